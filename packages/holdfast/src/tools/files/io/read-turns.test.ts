import { describe, expect, it } from 'vitest'
import { createReadTurns } from './read-turns.ts'

/** Returns work that counts how many run at once, and ends a tick later. */
function createCounter() {
  let running = 0
  let most = 0
  const work = async () => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    running--
  }
  return { work, most: () => most }
}

describe('reads', () => {
  it('of large files run one at a time, those of small ones at once', async () => {
    const turns = createReadTurns()
    const [large, small] = [createCounter(), createCounter()]
    await Promise.all(Array.from({ length: 8 }, () => turns.ofSize(16_000_000, large.work)))
    await Promise.all(Array.from({ length: 8 }, () => turns.ofSize(1000, small.work)))
    expect([large.most(), small.most()]).toEqual([1, 8])
  })

  it('of a session run one at a time, and do not delay those of another', async () => {
    const turns = createReadTurns()
    const order: string[] = []
    const { promise: slow, resolve } = Promise.withResolvers<void>()
    const both = [turns.ofSession('a', () => slow), turns.ofSession('a', async () => order.push('second of a'))]
    await turns.ofSession('b', async () => order.push('b'))
    expect(order).toEqual(['b'])
    resolve()
    await Promise.all(both)
    expect(order).toEqual(['b', 'second of a'])
  })

  it('go on after one that failed', async () => {
    const turns = createReadTurns()
    const failed = turns.ofSession('a', () => Promise.reject(new Error('no')))
    const next = turns.ofSession('a', async () => 'read')
    await expect(failed).rejects.toThrow('no')
    expect(await next).toBe('read')
  })
})
