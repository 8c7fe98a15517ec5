/** What is done for commands outside the mailbox and takes its time, such as a summary that a model writes. */
export interface SideWork {
  /** Ends what is under way now, when someone aborts. */
  signal(): AbortSignal
  end(): void
  /** Whether someone waits for one: the session is in use. */
  isBusy(): boolean
  /** Does work that someone waits for; `done` is called however it ends. */
  during<Value>(work: () => Promise<Value>): Promise<Value>
}

export function createSideWork(done: () => void): SideWork {
  let current = new AbortController()
  let busy = 0
  return {
    signal: () => current.signal,
    end() {
      current.abort()
      current = new AbortController()
    },
    isBusy: () => busy > 0,
    async during(work) {
      busy++
      try {
        return await work()
      } finally {
        busy--
        done()
      }
    },
  }
}
