import { describe, expect, it } from 'vitest'
import { findLines, type TreeNode } from './message-tree.ts'

/** A long line with `leaves` other ends, which share all of it. */
const createBroom = (length: number, leaves: number): readonly TreeNode<number>[] => [
  ...Array.from({ length }, (_, index) => ({
    id: `m${index}`,
    parent: index === 0 ? undefined : `m${index - 1}`,
    value: index,
    isLeaf: true,
  })),
  ...Array.from({ length: leaves }, (_, index) => ({
    id: `leaf${index}`,
    parent: `m${length - 1}`,
    value: length + index,
    isLeaf: true,
  })),
]

describe('findLines', () => {
  it('keeps the newest other lines, up to a number of messages together', () => {
    const remarks: string[] = []
    const count = (length: number) => {
      const { main, others } = findLines(createBroom(length, 50), (_, code) => remarks.push(code), 10_000)
      expect(main.length).toBe(length + 1)
      expect(others.at(-1)?.at(-1)).toBe(length + 48)
      return others.reduce((sum, line) => sum + line.length, 0)
    }
    expect(count(1000)).toBeLessThanOrEqual(10_000)
    expect(count(2000)).toBeLessThanOrEqual(10_000)
    expect(remarks).toEqual(['branch_dropped', 'branch_dropped'])
  })
})
