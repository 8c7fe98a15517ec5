import { availableParallelism } from 'node:os'

/** Ready to run for so long and not running, and the core was given to someone else: there is none to waste on waiting. */
const takenAwayMs = 1
const restMs = { least: 20, most: 1000 }
/** So many moments in a row undisturbed, and the machine is taken to be ours again. */
const calmMoments = 200

export type SpinWaitDeps = {
  /** Whether there is but one core: then nobody may look, as whoever should answer needs it. */
  readonly isAlone?: boolean
  readonly cpuMs?: () => number
}

/** Tells whether this thread may spend a moment looking. On a crowded machine it may ever more rarely. */
export function createSpinWait({ isAlone = availableParallelism() < 2, cpuMs = threadCpuMs }: SpinWaitDeps = {}) {
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
      start = { wallMs: nowMs, cpuMs: cpuMs() }
      lastMs = nowMs
      calm += 1
      if (calm > calmMoments) nextRestMs = restMs.least
      return true
    },
    goesOn(nowMs: number, untilMs: number): boolean {
      const isGap = nowMs - lastMs > takenAwayMs
      lastMs = nowMs
      // Time that this thread worked is its own affair; time that it neither worked nor slept was taken away.
      if (isGap && nowMs - start.wallMs - (cpuMs() - start.cpuMs) > takenAwayMs) rest(nowMs)
      return nowMs < untilMs && nowMs >= restUntilMs
    },
  }
}

/** How long this thread has worked so far. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
