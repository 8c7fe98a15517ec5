/** Creates a queue that runs one task at a time. A failed task does not stop the next. */
export function createSerialQueue(): <Value>(work: () => Value | Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    last = result.catch(() => undefined) // the caller gets the error; the next task must not
    return result
  }
}
