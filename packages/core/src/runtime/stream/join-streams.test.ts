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

  it('give what is there without a promise, and say when to wait and when to ask', async () => {
    const direct = createDirect(1, 2, 3)
    const joined = joinStreams(streamsOf(direct, numbers(6)), (item) => (item === 2 ? 'skip' : 'pass'))
    let woken = 0
    const take = () => joined.takeNow(() => void woken++)
    expect(take()).toBe('next') // no stream is open yet
    expect(await joined.next()).toEqual({ done: false, value: 1 })
    expect([take(), take()]).toEqual([3, 'wait'])
    direct.push(4)
    expect([woken, take(), take()]).toEqual([1, 4, 'wait'])
    direct.end()
    expect([woken, take()]).toEqual([2, 'next'])
    expect(await joined.next()).toEqual({ done: false, value: 6 })
    expect(take()).toBe('next') // a generator gives nothing without a promise
    const asked = joined.next()
    expect(take()).toBe('next') // that read has no answer yet
    expect(await asked).toEqual({ done: true, value: undefined })
    expect(take()).toBe('next')
  })

  it('leave a stream without a promise, and go on with the next one after it has ended', async () => {
    const direct = createDirect(1, 2, 3)
    const order: string[] = []
    async function* streams(): AsyncGenerator<AsyncIterable<number>, void> {
      yield direct
      order.push(direct.isLeft() ? 'after it was left' : 'too early')
      yield numbers(6)
    }
    const joined = joinStreams(streams(), (item) => (item === 2 ? 'leave' : 'pass'))
    await joined.next()
    expect(joined.takeNow(() => undefined)).toBe('next')
    expect(await joined.next()).toEqual({ done: false, value: 6 })
    expect(order).toEqual(['after it was left'])
  })
})

/** A stream that gives its items without a promise. */
function createDirect(...items: number[]) {
  let wake = () => {}
  let [isOver, isLeft] = [false, false]
  return {
    push(item: number): void {
      items.push(item)
      wake()
    },
    end(): void {
      isOver = true
      wake()
    },
    isLeft: () => isLeft,
    [Symbol.asyncIterator]: () => ({
      async next(): Promise<IteratorResult<number, undefined>> {
        const value = items.shift()
        return value === undefined ? { done: true, value } : { done: false, value }
      },
      takeNow(tell: () => void): number | 'wait' | 'next' {
        wake = tell
        return items.shift() ?? (isOver ? 'next' : 'wait')
      },
      async return(): Promise<IteratorResult<number, undefined>> {
        await new Promise(setImmediate)
        isLeft = true
        return { done: true, value: undefined }
      },
    }),
  }
}
