import { describe, expect, it } from 'vitest'
import type { ImportedFile } from '../import-paths.ts'
import { createImportQueue } from './import-queue.ts'

/** A queue of imports that last until `finish` is called, and what runs in it. */
function openQueue() {
  const begun: string[] = []
  const ends: (() => void)[] = []
  let [running, most] = [0, 0]
  const queue = createImportQueue(async ([path = ''], { signal }) => {
    if (signal?.aborted) return []
    begun.push(path)
    most = Math.max(most, ++running)
    await new Promise<void>((end) => {
      ends.push(end)
      signal?.addEventListener('abort', () => end())
    })
    running--
    // Only its name matters here.
    return [{ file: path } as ImportedFile]
  })
  const finishAll = async (all: readonly Promise<unknown>[]) => {
    let left = all.length
    for (const one of all) void one.finally(() => left--)
    while (left > 0) {
      ends.shift()?.()
      await new Promise(setImmediate)
    }
  }
  return { queue, begun, finishAll, most: () => most }
}

describe('imports of a process', () => {
  it.each([4, 8])('run one at a time, in their order: %i at once', async (count) => {
    const { queue, begun, finishAll, most } = openQueue()
    const paths = Array.from({ length: count }, (_, index) => `f${index}`)
    const waits: number[] = []
    const all = paths.map((path) => queue.run([path], { onWait: (before) => waits.push(before) }))
    await finishAll(all)
    expect([most(), begun]).toEqual([1, paths])
    expect(waits).toEqual(paths.slice(1).map((_, index) => index + 1))
    expect((await Promise.all(all)).flat().map(({ file }) => file)).toEqual(paths)
  })

  it('leave the queue at once when they are aborted', async () => {
    const { queue, begun, finishAll } = openQueue()
    const first = queue.run(['first'])
    const leaving = new AbortController()
    const second = queue.run(['second'], { signal: leaving.signal })
    const third = queue.run(['third'])
    leaving.abort()
    expect(await second).toEqual([])
    await finishAll([first, third])
    expect(begun).toEqual(['first', 'third'])
  })

  it('go on after one that failed', async () => {
    const queue = createImportQueue(async ([path]) => {
      if (path === 'bad') throw new Error('broken')
      return []
    })
    const all = await Promise.allSettled([queue.run(['bad']), queue.run(['good'])])
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })

  it('all end when the runtime closes', async () => {
    const { queue, begun } = openQueue()
    const all = ['a', 'b', 'c'].map((path) => queue.run([path]))
    await new Promise(setImmediate)
    await queue.close()
    await Promise.all(all)
    expect(begun).toEqual(['a'])
  })
})
