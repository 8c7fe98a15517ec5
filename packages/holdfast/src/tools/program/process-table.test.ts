import { describe, expect, it } from 'vitest'
import { createSharedWork } from './process-table.ts'

/** Work that ends when it is told, with the number of its run. */
function openWork() {
  const runs: (() => void)[] = []
  const ask = createSharedWork(async () => {
    const run = runs.length + 1
    await new Promise<void>((resolve) => runs.push(resolve))
    return run
  })
  const until = (count: number) => expect.poll(() => runs.length, { interval: 1 }).toBe(count)
  return { ask, until, runs, end: (run: number) => runs[run - 1]?.() }
}

describe('work that is shared', () => {
  it('runs once for all who ask at the same time', async () => {
    const { ask, until, runs, end } = openWork()
    const asked = Array.from({ length: 20 }, ask)
    await until(1)
    end(1)
    expect(new Set(await Promise.all(asked))).toEqual(new Set([1]))
    expect(runs).toHaveLength(1)
  })

  it('runs again, once, for all who ask while it runs', async () => {
    const { ask, until, runs, end } = openWork()
    const first = ask()
    await until(1)
    const later = Array.from({ length: 20 }, ask)
    end(1)
    expect(await first).toBe(1)
    await until(2)
    end(2)
    expect(new Set(await Promise.all(later))).toEqual(new Set([2]))
    expect(runs).toHaveLength(2)
  })

  it('runs again after a failure', async () => {
    let runs = 0
    const ask = createSharedWork(async () => {
      runs++
      if (runs === 1) throw new Error('broken')
      return runs
    })
    await expect(ask()).rejects.toThrow('broken')
    expect(await ask()).toBe(2)
  })
})
