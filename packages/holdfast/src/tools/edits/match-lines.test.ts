import { limits } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { type Lines, splitLines } from './lines.ts'
import { createBlockFinder } from './match-lines.ts'

/** Lines that count how often an offset is read. */
function counting(text: string): { readonly lines: Lines; reads(): number } {
  const lines = splitLines(text)
  let reads = 0
  const starts = new Proxy(lines.starts, {
    get(target, key) {
      reads++
      return Reflect.get(target, key, target)
    },
  })
  return { lines: { ...lines, starts }, reads: () => reads }
}

it('reads the lines once for each tier, however many blocks are searched', () => {
  const readsFor = (blocks: number, length: number) => {
    const { lines, reads } = counting('\n'.repeat(length))
    const block = ['a', ...Array<string>(length / 10).fill(''), 'b']
    const finder = createBlockFinder(lines, block)
    for (let each = 0; each < blocks; each++) expect(finder.find(block.slice(each)).count).toBe(0)
    return reads()
  }
  expect(readsFor(9, 1000)).toBe(readsFor(1, 1000))
  expect(readsFor(9, 2000) / readsFor(9, 1000)).toBeLessThan(2.1)
})

it('counts all hits, and keeps no more of them than an edit may change', () => {
  const found = createBlockFinder(splitLines('a\n'.repeat(limits.editPlacesMax + 5)), ['a']).find(['a'], 2)
  expect([found.count, found.hits.length, found.hits[0]]).toEqual([
    limits.editPlacesMax + 3,
    limits.editPlacesMax,
    { line: 2 },
  ])
})
