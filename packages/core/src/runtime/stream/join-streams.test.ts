import { describe, expect, it } from 'vitest'
import { joinStreams } from './join-streams.ts'

async function* numbers(...items: readonly number[]): AsyncGenerator<number> {
  yield* items
}
async function* streamsOf(...all: readonly AsyncIterable<number>[]): AsyncGenerator<AsyncIterable<number>, void> {
  yield* all
}
const pass = () => 'pass' as const

describe('joined streams', () => {
  it('are read one after the other, also empty ones', async () => {
    const joined = joinStreams(streamsOf(numbers(1, 2), numbers(), numbers(3)), pass)
    expect(await Array.fromAsync(joined)).toEqual([1, 2, 3])
    expect(await joined.next()).toEqual({ done: true, value: undefined })
  })

  it('skip an item, or the rest of a stream', async () => {
    const ended: string[] = []
    async function* left(): AsyncGenerator<number> {
      try {
        yield* [1, 2, 3, 4]
      } finally {
        ended.push('left')
      }
    }
    const see = (item: number) => (item === 2 ? 'skip' : item === 3 ? 'leave' : 'pass')
    expect(await Array.fromAsync(joinStreams(streamsOf(left(), numbers(5)), see))).toEqual([1, 5])
    expect(ended).toEqual(['left'])
  })

  it('open the next stream only once the one before has ended', async () => {
    const order: string[] = []
    async function* streams(): AsyncGenerator<AsyncIterable<number>, void> {
      order.push('one')
      yield numbers(1)
      order.push('two')
      yield numbers(2)
    }
    const joined = joinStreams(streams(), (item) => {
      order.push(`item ${item}`)
      return 'pass'
    })
    await Array.fromAsync(joined)
    expect(order).toEqual(['one', 'item 1', 'two', 'item 2'])
  })

  it('answer reads in order, however many wait', async () => {
    const joined = joinStreams(streamsOf(numbers(1), numbers(2), numbers(3)), pass)
    const reads = await Promise.all([joined.next(), joined.next(), joined.next(), joined.next()])
    expect(reads.map(({ value }) => value)).toEqual([1, 2, 3, undefined])
  })

  it('end with the failure of a stream, and clean up', async () => {
    let isClean = false
    async function* streams(): AsyncGenerator<AsyncIterable<number>, void> {
      try {
        yield numbers(1)
        yield broken()
      } finally {
        isClean = true
      }
    }
    // biome-ignore lint/correctness/useYield: it fails before its first item
    async function* broken(): AsyncGenerator<number> {
      throw new Error('broken')
    }
    const joined = joinStreams(streams(), pass)
    expect(await joined.next()).toEqual({ done: false, value: 1 })
    await expect(joined.next()).rejects.toThrow('broken')
    expect(isClean).toBe(true)
    expect(await joined.next()).toEqual({ done: true, value: undefined })
  })

  it('that are left end the stream that is read, and those that would come', async () => {
    const closed: string[] = []
    const { promise: never } = Promise.withResolvers<IteratorResult<number>>()
    const waiting: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next: () => never,
        async return() {
          closed.push('stream')
          return { done: true, value: undefined }
        },
      }),
    }
    async function* streams(): AsyncGenerator<AsyncIterable<number>, void> {
      try {
        yield waiting
      } finally {
        closed.push('streams')
      }
    }
    const joined = joinStreams(streams(), pass)
    void joined.next()
    await new Promise(setImmediate)
    expect(await joined.return()).toEqual({ done: true, value: undefined })
    expect(closed).toEqual(['stream', 'streams'])
    expect(await joined.return()).toEqual({ done: true, value: undefined })
  })
})
