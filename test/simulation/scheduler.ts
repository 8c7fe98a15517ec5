/** One life of a process: it ends by a kill, or it is paused so long that another takes over while it still breathes. */
export type Life = { readonly node: string; status: 'living' | 'paused' | 'dead' }

type Waiting = { readonly life: Life; readonly what: string; readonly go: () => void }

/** Where everything that takes time waits until the dice let it go on: so a crash can fall between any two steps. */
export type Scheduler = {
  readonly waiting: readonly Waiting[]
  pass(life: Life, what: string): Promise<void>
  release(one: Waiting): void
  /** What waits for a dead life waits for ever. */
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

/** Resolves when nothing can go on any more but through the turnstile or the clock. */
export const settlePromises = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
