import { createGate } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createPool } from './pool.ts'

describe('pool', () => {
  it('runs work that fits concurrently, and work that takes all slots alone', async () => {
    const pool = createPool(4)
    const running = new Set<string>()
    const seen: string[] = []
    const gates = { a: createGate(), b: createGate(), large: createGate(), c: createGate() }
    const work = (name: keyof typeof gates) => async () => {
      running.add(name)
      seen.push([...running].join('+'))
      await gates[name].pass()
      running.delete(name)
    }
    const begun = (async () => {
      await pool.run(work('a'))
      await pool.run(work('b'), 3)
      await pool.run(work('large'), 9)
      await pool.run(work('c'))
    })()
    await gates.b.reached
    for (const name of ['a', 'b', 'large', 'c'] as const) {
      await gates[name].reached
      gates[name].open()
    }
    await begun
    await pool.idle()
    expect(seen).toEqual(['a', 'a+b', 'large', 'c'])
  })

  it('throws the first error when idle', async () => {
    const pool = createPool(2)
    await pool.run(async () => {
      throw new Error('torn')
    })
    await expect(pool.idle()).rejects.toThrow('torn')
  })
})
