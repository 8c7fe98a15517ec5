import { setImmediate as slice } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createMerge } from './merge.ts'

const notHeld = () => () => undefined

/** A source that counts how far it was read. */
function count(name: string, max: number) {
  const read = { items: 0 }
  async function* items(): AsyncGenerator<string> {
    while (read.items < max) yield `${name}${++read.items}`
  }
  return { read, items: items() }
}

it('a long source does not hold up a short one, and each is read one item ahead', async () => {
  const merge = createMerge<string>(notHeld)
  const gone = new AbortController()
  const [long, short] = [count('long', 1000), count('short', 2)]
  const ended = [merge.add(long.items), merge.add(short.items)]
  const taken: string[] = []
  for await (const item of merge.items(gone.signal)) {
    taken.push(item)
    await slice()
    expect(long.read.items).toBeLessThanOrEqual(taken.length + 1)
    if (taken.length === 6) gone.abort()
  }
  expect(taken.filter((item) => item.startsWith('short'))).toEqual(['short1', 'short2'])
  expect(taken.slice(0, 4).sort()).toEqual(['long1', 'long2', 'short1', 'short2'])
  await Promise.all(ended)
  expect(long.read.items).toBeLessThan(10)
})

it('a line that is over frees sources that wait', async () => {
  const merge = createMerge<string>(notHeld)
  const gone = new AbortController()
  const items = merge.items(gone.signal)
  const first = items.next()
  const source = merge.add(count('a', 5).items)
  expect(await first).toEqual({ value: 'a1', done: false })
  await slice()
  gone.abort()
  expect(await items.next()).toEqual({ value: undefined, done: true })
  await source
})

it('holds each item from when it waits until the reader is done with it, and reads no more of its source', async () => {
  const held = new Set<string>()
  const merge = createMerge<string>((item) => {
    held.add(item)
    return () => held.delete(item)
  })
  const gone = new AbortController()
  const [one, two] = [count('a', 5), count('b', 5)]
  const ended = [merge.add(one.items), merge.add(two.items)]
  const items = merge.items(gone.signal)
  await slice()
  expect([...held]).toEqual(['a1', 'b1'])
  expect(await items.next()).toEqual({ value: 'a1', done: false })
  await slice()
  expect([...held, one.read.items]).toEqual(['a1', 'b1', 1])
  expect(await items.next()).toEqual({ value: 'b1', done: false })
  await slice()
  expect([...held]).toEqual(['b1', 'a2'])
  await items.return(undefined)
  await Promise.all(ended)
  expect([...held, one.read.items, two.read.items]).toEqual([2, 1])
})
