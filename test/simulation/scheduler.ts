/** A simulated process. It is killed, or paused so long that another process takes over. */
export type Life = {
  readonly node: string
  status: 'living' | 'paused' | 'dead'
  /** The step whose start is being written, if any. */
  starting?: StepStart | null
  /** Whether a prompt is being written, or was, and its step has not started yet. */
  isPrompting?: boolean
  /** The model call that was made meanwhile. It belongs to the step that starts next, unless it is aborted. */
  foreseen?: { readonly start: StepStart; readonly signal: AbortSignal } | null
}

/** The record that starts a step, and whether it reached the disk. */
export type StepStart = { step: number; isDurable: boolean }

type Waiting = { readonly life: Life; readonly what: string; readonly go: () => void }

/** Holds every operation that takes time until it is released, so that a crash can happen between any two steps. */
export type Scheduler = {
  readonly waiting: readonly Waiting[]
  pass(life: Life, what: string): Promise<void>
  release(one: Waiting): void
  /** Operations of a killed process never continue. */
  bury(life: Life): void
}

const never = () => new Promise<never>(() => undefined)

export function createScheduler(): Scheduler {
  let waiting: Waiting[] = []
  return {
    get waiting() {
      return waiting
    },
    pass: (life, what) =>
      life.status === 'dead' ? never() : new Promise<void>((go) => void waiting.push({ life, what, go })),
    release(one) {
      waiting = waiting.filter((other) => other !== one)
      one.go()
    },
    bury(life) {
      waiting = waiting.filter((one) => one.life !== life)
    },
  }
}

/** Resolves when only a release or the clock can continue the run. */
export const settlePromises = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
