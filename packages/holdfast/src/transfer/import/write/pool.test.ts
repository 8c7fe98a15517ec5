import { createGate } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createPool } from './pool.ts'

describe('a pool', () => {
  it('runs side by side what has room, and alone what takes all of it', async () => {
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

  it('tells at its end what one of them threw', async () => {
    const pool = createPool(2)
    await pool.run(async () => {
      throw new Error('torn')
    })
    await expect(pool.idle()).rejects.toThrow('torn')
  })
})
