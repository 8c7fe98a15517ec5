import { createSpinWait } from './spin-wait.ts'

/**
 * A core that has gone to sleep takes longer to wake than a commit takes to sync: on a virtual machine 20 to 40 µs for
 * each hop between the threads. So both ends of a link stay awake for a moment before they sleep. It is never long, it
 * holds up no other work of the loop, and it stops as soon as someone else wants the core
 * (lookout.ts). At rest it costs nothing: without a request under way nobody looks.
 */
const moment = { workerMs: 0.1, loopMs: 0.3 }

/** In a worker: looks for the next signal a moment longer; the caller goes on to sleep if none came. */
export function createLinger(): (signal: Int32Array, seen: number) => void {
  const lookout = createSpinWait()
  return (signal, seen) => {
    const start = performance.now()
    if (!lookout.begin(start)) return
    while (Atomics.load(signal, 0) === seen && lookout.goesOn(performance.now(), start + moment.workerMs));
  }
}

/** In the event loop: keeps it turning until the answer is here or the moment is over. */
export function createVigil(isWaiting: () => boolean): () => void {
  const lookout = createSpinWait()
  let untilMs = 0
  let isAwake = false
  const look = () => {
    isAwake = isWaiting() && lookout.goesOn(performance.now(), untilMs)
    if (isAwake) setImmediate(look)
  }
  return () => {
    const now = performance.now()
    untilMs = now + moment.loopMs
    if (isAwake || !lookout.begin(now)) return
    isAwake = true
    setImmediate(look)
  }
}
