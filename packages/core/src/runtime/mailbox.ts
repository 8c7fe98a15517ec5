/** One thing after the other: what is put in is done in order, each when the one before it is over. */
export interface Mailbox {
  put<Value>(work: () => Promise<Value>): Promise<Value>
}

export function createMailbox(): Mailbox {
  let last: Promise<unknown> = Promise.resolve()
  return {
    put<Value>(work: () => Promise<Value>): Promise<Value> {
      const result = last.then(work)
      last = result.catch(() => undefined) // whoever put it in hears of it; the next in line must not
      return result
    },
  }
}
