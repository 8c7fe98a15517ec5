/** Asks a person one thing at a time, in the order of the asking. */
export interface AskQueue {
  /** Starts to ask. Does not wait: the turn may end meanwhile, or another client answer. */
  ask(key: string, work: (signal: AbortSignal) => Promise<void>): void
  /** Stops asking: it was answered, or is gone. */
  drop(key: string): void
  /** Resolves when everything that was asked so far is answered or printed. */
  settled(): Promise<void>
  /** Stops asking everything. Resolves when nothing is asked any more. */
  end(): Promise<void>
}

export function createAskQueue(interruption: AbortSignal): AskQueue {
  const open = new Map<string, AbortController>()
  let last: Promise<void> = Promise.resolve()
  return {
    ask(key, work) {
      if (open.has(key)) return
      const gone = new AbortController()
      open.set(key, gone)
      const signal = AbortSignal.any([gone.signal, interruption])
      last = last.then(() => (signal.aborted ? undefined : work(signal)))
    },
    drop: (key) => open.get(key)?.abort(),
    settled: () => last,
    async end() {
      for (const gone of open.values()) gone.abort()
      await last
    },
  }
}
