/** A stream that its reader can leave. */
export type Stream<Item> = AsyncIterableIterator<Item, undefined> &
  DirectIterator<Item> & {
    return(): Promise<IteratorResult<Item, undefined>>
  }

/**
 * An iterator that also gives what is already there without a promise: a thousand viewers of one session read each frame,
 * and their promises would cost more than their writes.
 */
export interface DirectIterator<Item> {
  /**
   * Returns the next item. `wait`: there is none; `wake` is called once when there may be one. `next`: only `next()` can
   * tell. Must not be called while a `next()` has no answer.
   */
  takeNow(wake: () => void): Item | 'wait' | 'next'
}

/** Takes an item from any iterator: from most, only `next()` can. */
export const takeNow = <Item>(items: AsyncIterator<Item>, wake: () => void): Item | 'wait' | 'next' =>
  'takeNow' in items ? (items as AsyncIterator<Item> & DirectIterator<Item>).takeNow(wake) : 'next'

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
  /** The end of a stream that was left without a `next()`. */
  let leaving: Promise<void> | null = null

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

  function readNow(wake: () => void): Item | 'wait' | 'next' {
    while (current !== null && reading === 0) {
      const item = takeNow(current, wake)
      if (item === 'wait' || item === 'next') return item
      const seen = see(item)
      if (seen === 'pass') return item
      if (seen === 'leave') {
        leaving = leaveOne()
        leaving.catch(() => undefined) // the next read gets it too
      }
    }
    return 'next'
  }

  async function open(): Read<Item> {
    await leaving
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
    takeNow: readNow,
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
