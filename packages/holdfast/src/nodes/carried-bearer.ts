import { AsyncLocalStorage } from 'node:async_hooks'
import { takeNow } from '@holdfast/core'

const carried = new AsyncLocalStorage<string | null>()

/** Runs the work of a request. What it asks of other nodes carries the caller's own `Authorization`; null for none. */
export const withBearer = <Value>(authorization: string | null, work: () => Value): Value =>
  carried.run(authorization, work)

/** Returns the `Authorization` of the request that this work belongs to. */
export const carriedBearer = (): string | null => carried.getStore() ?? null

type Scope = <Value>(work: () => Value) => Value

/** Returns what runs later work with the bearer of this moment. */
export const captureBearer = (): Scope => AsyncLocalStorage.snapshot()

/** Returns a stream whose work carries a bearer, although it is read after the request was handled. */
export function keepBearer<Item>(items: AsyncIterable<Item>, inside = captureBearer()): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      const reading = items[Symbol.asyncIterator]()
      const over: IteratorResult<Item> = { done: true, value: undefined }
      return {
        next: () => inside(() => reading.next()),
        return: () => inside(async () => (await reading.return?.()) ?? over),
        takeNow: (wake: () => void) => takeNow(reading, wake), // it asks no other node
      }
    },
  }
}
