import { availableParallelism } from 'node:os'

/**
 * A sleeping core takes longer to wake than a commit takes to sync: 20 to 40 µs for each hop between threads on a
 * virtual machine. So both ends of a link spin for a moment before they sleep. A spin is short, blocks no other work of
 * the event loop and stops when another thread needs the core. Without a pending request nothing spins.
 */
const spinMs = { worker: 0.1, eventLoop: 0.3 }

/** If a thread is ready to run but does not run for this long, its core went to another thread. */
const preemptedMs = 1
const pauseMs = { min: 20, max: 1000 }
/** After so many undisturbed spins in a row, the machine counts as idle again. */
const calmSpins = 200

export type SpinBudgetDeps = {
  /** With a single core nothing may spin: the thread that should answer needs it. */
  readonly isSingleCore?: boolean
  readonly cpuMs?: () => number
}

/** Decides whether this thread may spin. On a busy machine the pauses between spins grow. */
export function createSpinBudget({
  isSingleCore = availableParallelism() < 2,
  cpuMs = threadCpuMs,
}: SpinBudgetDeps = {}) {
  let start = { wallMs: 0, cpuMs: 0 }
  let lastMs = 0
  let calm = 0
  let nextPauseMs = pauseMs.min
  let pausedUntilMs = isSingleCore ? Number.POSITIVE_INFINITY : 0

  const pause = (nowMs: number) => {
    pausedUntilMs = nowMs + nextPauseMs
    nextPauseMs = Math.min(nextPauseMs * 4, pauseMs.max)
    calm = 0
  }
  return {
    begin(nowMs: number): boolean {
      if (nowMs < pausedUntilMs) return false
      start = { wallMs: nowMs, cpuMs: cpuMs() }
      lastMs = nowMs
      calm += 1
      if (calm > calmSpins) nextPauseMs = pauseMs.min
      return true
    },
    mayContinue(nowMs: number, untilMs: number): boolean {
      const isGap = nowMs - lastMs > preemptedMs
      lastMs = nowMs
      // The thread may have worked itself; only time in which it neither worked nor slept was taken by another.
      if (isGap && nowMs - start.wallMs - (cpuMs() - start.cpuMs) > preemptedMs) pause(nowMs)
      return nowMs < untilMs && nowMs >= pausedUntilMs
    },
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
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

/** For the event loop: keeps it running until the answer arrives or the moment is over. */
export function createEventLoopSpin(isWaiting: () => boolean): () => void {
  const budget = createSpinBudget()
  let untilMs = 0
  let isSpinning = false
  const spin = () => {
    isSpinning = isWaiting() && budget.mayContinue(performance.now(), untilMs)
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
