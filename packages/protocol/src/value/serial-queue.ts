/** Does one thing after another, each when the one before it is over, however that went. */
export function createSerialQueue(): <Value>(work: () => Value | Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    last = result.catch(() => undefined) // whoever asked hears of it; the next in line must not
    return result
  }
}
