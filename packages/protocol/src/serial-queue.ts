/** Creates a queue that runs one task at a time. A failed task does not stop the next. */
export function createSerialQueue(): <Value>(work: () => Value | Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    last = result.catch(() => undefined) // the caller gets the error; the next task must not
    return result
  }
}

/** Creates a queue for each key that is in use: tasks of one key run one at a time, those of others do not wait for them. */
export function createKeyedQueue(): <Value>(key: string, work: () => Value | Promise<Value>) => Promise<Value> {
  const queues = new Map<string, { readonly run: ReturnType<typeof createSerialQueue>; waiting: number }>()
  return (key, work) => {
    const queue = queues.get(key) ?? { run: createSerialQueue(), waiting: 0 }
    queues.set(key, queue)
    queue.waiting++
    return queue.run(work).finally(() => {
      queue.waiting--
      if (queue.waiting === 0) queues.delete(key)
    })
  }
}
