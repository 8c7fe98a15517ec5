/** A stream that its reader can leave. */
export type Stream<Item> = AsyncIterableIterator<Item, undefined> & {
  return(): Promise<IteratorResult<Item, undefined>>
}

type Read<Item> = Promise<IteratorResult<Item, undefined>>

/**
 * Reads streams one after the other, as one. `see` is called with each item and decides what becomes of it: the reader gets
 * it, it is skipped, or it is skipped and the rest of its stream too.
 *
 * Each frame of each viewer passes here several times. An item costs one promise; in an async generator that yields what
 * it reads, it would cost several times as much.
 */
export function joinStreams<Item>(
  streams: AsyncGenerator<AsyncIterable<Item>, void>,
  see: (item: Item) => 'pass' | 'skip' | 'leave',
): Stream<Item> {
  let current: AsyncIterator<Item> | null = null
  let isOver = false
  /** How many reads have no answer yet. Almost always at most one: then it needs no place in a queue. */
  let reading = 0
  let last: Promise<unknown> = Promise.resolve()

  const pass = (result: IteratorResult<Item>): IteratorResult<Item, undefined> | Read<Item> => {
    if (result.done) {
      current = null
      return open()
    }
    const seen = see(result.value)
    if (seen === 'pass') return result
    return seen === 'skip' ? read() : leaveOne().then(open)
  }
  const fail = async (cause: unknown): Read<Item> => {
    await leave()
    throw cause
  }
  const read = (): Read<Item> => (current ? current.next().then(pass, fail) : open())

  async function open(): Read<Item> {
    const opened = isOver ? null : await streams.next()
    if (opened === null || opened.done) {
      isOver = true
      return over
    }
    const stream = opened.value[Symbol.asyncIterator]()
    if (isOver) {
      await stream.return?.() // the reader left meanwhile
      return over
    }
    current = stream
    return read()
  }

  async function leaveOne(): Promise<void> {
    const left = current
    current = null
    await left?.return?.()
  }
  async function leave(): Promise<void> {
    isOver = true
    await leaveOne()
    await streams.return()
  }

  const settled = <Value>(value: Value): Value => {
    reading -= 1
    return value
  }
  const thrown = (cause: unknown): never => {
    reading -= 1
    throw cause
  }

  return {
    next() {
      reading += 1
      const answer = (reading === 1 ? read() : last.then(read, read)).then(settled, thrown)
      last = answer
      return answer
    },
    async return() {
      await leave()
      return over
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

const over = { done: true, value: undefined } as const
