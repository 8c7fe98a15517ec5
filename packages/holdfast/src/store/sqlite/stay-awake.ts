import { availableParallelism } from 'node:os'

/**
 * A core that has gone to sleep takes longer to wake than a commit takes to sync: on a virtual machine 20 to 40 µs for
 * each hop between the threads. So both ends of a link stay awake for a moment before they sleep. It is never long, it
 * holds up no other work of the loop, and it stops as soon as someone else wants the core.
 */
const moment = { workerMs: 0.1, loopMs: 0.3 }

/** Ready to run for so long and not running, and the core was given to someone else: there is none to waste on waiting. */
const takenAwayMs = 1
const restMs = { least: 20, most: 1000 }
/** So many moments in a row undisturbed, and the machine is taken to be ours again. */
const calmMoments = 200

/** Tells whether this thread may spend a moment looking. On a crowded machine it may ever more rarely. */
function createLookout(isAlone = availableParallelism() < 2) {
  let start = { wallMs: 0, cpuMs: 0 }
  let lastMs = 0
  let calm = 0
  let nextRestMs = restMs.least
  let restUntilMs = isAlone ? Number.POSITIVE_INFINITY : 0

  const rest = (nowMs: number) => {
    restUntilMs = nowMs + nextRestMs
    nextRestMs = Math.min(nextRestMs * 4, restMs.most)
    calm = 0
  }
  return {
    begin(nowMs: number): boolean {
      if (nowMs < restUntilMs) return false
      start = { wallMs: nowMs, cpuMs: threadCpuMs() }
      lastMs = nowMs
      calm += 1
      if (calm > calmMoments) nextRestMs = restMs.least
      return true
    },
    goesOn(nowMs: number, untilMs: number): boolean {
      const isGap = nowMs - lastMs > takenAwayMs
      lastMs = nowMs
      // Time that this thread worked is its own affair; time that it neither worked nor slept was taken away.
      if (isGap && nowMs - start.wallMs - (threadCpuMs() - start.cpuMs) > takenAwayMs) rest(nowMs)
      return nowMs < untilMs && nowMs >= restUntilMs
    },
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** In a worker: looks for the next signal a moment longer; the caller goes on to sleep if none came. */
export function createLinger(): (signal: Int32Array, seen: number) => void {
  const lookout = createLookout()
  return (signal, seen) => {
    const start = performance.now()
    if (!lookout.begin(start)) return
    while (Atomics.load(signal, 0) === seen && lookout.goesOn(performance.now(), start + moment.workerMs));
  }
}

/** In the event loop: keeps it turning until the answer is here or the moment is over. */
export function createVigil(isWaiting: () => boolean): () => void {
  const lookout = createLookout()
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
