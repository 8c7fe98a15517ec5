/** One thing after the other: what is put in is done in order, each when the one before it is over. */
export function createMailbox() {
  let last: Promise<unknown> = Promise.resolve()
  return {
    put<Value>(work: () => Promise<Value>): Promise<Value> {
      const result = last.then(work)
      last = result.catch(() => undefined) // whoever put it in hears of it; the next in line must not
      return result
    },
    /** Resolves when all that is in now is done. */
    empty: (): Promise<unknown> => last,
  }
}
