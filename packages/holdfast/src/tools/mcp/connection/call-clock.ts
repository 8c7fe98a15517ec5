/** Limits the time in which a server shows no sign of life. It stands still while a person is asked. */
export type CallClock = {
  /** Aborts when the time is up. */
  readonly signal: AbortSignal
  /** Starts the time again: the server has reported progress. */
  readonly touch: () => void
  /** Stops the clock while `work` runs. Several pauses may overlap. */
  readonly during: <Value>(work: () => Promise<Value>) => Promise<Value>
  readonly end: () => void
}

export function createCallClock(limitMs: number): CallClock {
  const expired = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let pauses = 0
  const touch = () => {
    clearTimeout(timer)
    if (pauses === 0) timer = setTimeout(() => expired.abort(), limitMs)
  }
  touch()
  return {
    signal: expired.signal,
    touch,
    async during(work) {
      pauses += 1
      clearTimeout(timer)
      try {
        return await work()
      } finally {
        pauses -= 1
        touch()
      }
    },
    end() {
      pauses = Number.POSITIVE_INFINITY // nothing starts it again
      clearTimeout(timer)
    },
  }
}
