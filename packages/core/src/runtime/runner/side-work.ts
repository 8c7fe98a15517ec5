/** Tracks long work for a command, done beside the queue, such as a summary that a model writes. */
export function createSideWork(done: () => void) {
  let current = new AbortController()
  let busy = 0
  return {
    /** Returns the signal that aborts the work under way. */
    signal: (): AbortSignal => current.signal,
    end() {
      current.abort()
      current = new AbortController()
    },
    isBusy: () => busy > 0,
    /** Marks the session as in use until the returned function is called. */
    begin() {
      busy++
      return () => {
        busy--
        done()
      }
    },
  }
}
