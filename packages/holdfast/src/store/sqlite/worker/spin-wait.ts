import { availableParallelism } from 'node:os'

/**
 * A sleeping core takes longer to wake than a commit takes to sync, so both ends of a link spin for a moment before
 * they sleep. A spin blocks no other work of the event loop and stops when another thread needs the core.
 */
const spinMs = { worker: 0.1, eventLoop: 0.3 }

/** If a thread is ready to run but does not run for this long, its core went to another thread. */
const preemptedMs = 1
const pauseMs = { min: 20, max: 1000 }
/** After so many undisturbed spins in a row, the machine counts as idle again. */
const calmSpins = 200

/** Decides whether this thread may spin. On a busy machine the pauses between spins grow. */
export function createSpinBudget(isSingleCore = availableParallelism() < 2, cpuUsage = process.threadCpuUsage) {
  let startMs = 0
  let startUsage = { user: 0, system: 0 }
  let lastMs = 0
  let calm = 0
  let nextPauseMs = pauseMs.min
  // With a single core nothing may spin: the thread that should answer needs it.
  let pausedUntilMs = isSingleCore ? Number.POSITIVE_INFINITY : 0

  return {
    begin(nowMs: number): boolean {
      if (nowMs < pausedUntilMs) return false
      startUsage = cpuUsage()
      startMs = lastMs = nowMs
      calm += 1
      if (calm > calmSpins) nextPauseMs = pauseMs.min
      return true
    },
    mayContinue(nowMs: number, untilMs: number): boolean {
      const isGap = nowMs - lastMs > preemptedMs
      lastMs = nowMs
      if (isGap) {
        const { user, system } = cpuUsage(startUsage)
        // The thread may have worked itself; only time in which it neither worked nor slept was taken by another.
        if (nowMs - startMs - (user + system) / 1000 > preemptedMs) {
          pausedUntilMs = nowMs + nextPauseMs
          nextPauseMs = Math.min(nextPauseMs * 4, pauseMs.max)
          calm = 0
        }
      }
      return nowMs < untilMs && nowMs >= pausedUntilMs
    },
  }
}

/** For a worker: spins until the signal changes or the moment is over. The caller then sleeps. */
export function createWorkerSpin(): (signal: Int32Array, seen: number) => void {
  const budget = createSpinBudget()
  return (signal, seen) => {
    const start = performance.now()
    if (!budget.begin(start)) return
    while (Atomics.load(signal, 0) === seen && budget.mayContinue(performance.now(), start + spinMs.worker));
  }
}

/** Keeps the event loop running until the answer arrives or the time is over. */
export function createEventLoopSpin(waiting: { readonly size: number }): () => void {
  const budget = createSpinBudget()
  let untilMs = 0
  let isSpinning = false
  const spin = () => {
    isSpinning = waiting.size > 0 && budget.mayContinue(performance.now(), untilMs)
    if (isSpinning) setImmediate(spin)
  }
  return () => {
    const now = performance.now()
    untilMs = now + spinMs.eventLoop
    if (isSpinning || !budget.begin(now)) return
    isSpinning = true
    setImmediate(spin)
  }
}
