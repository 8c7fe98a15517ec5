import { entryOf, sessionId } from '@holdfast/testkit/contracts'
import { describe, expect, it } from 'vitest'
import type { SessionRow } from '../log/session-row.ts'
import { createForkIndex } from './fork-index.ts'

const forkOf = (number: number, parent: number | null): SessionRow => ({
  id: sessionId(number),
  order: number,
  parent: parent === null ? null : sessionId(parent),
  base: 1,
  head: 2,
  bytes: 1,
  epoch: 1,
  owner: null,
  entry: entryOf(number),
  trashedAt: null,
  isShared: false,
})

describe('fork index', () => {
  it('finds forks by their parent as they are added and removed', () => {
    const [root, first, second] = [forkOf(1, null), forkOf(2, 1), forkOf(3, 1)]
    const forks = createForkIndex([root, first])
    forks.add(second)
    forks.add(second)
    expect(forks.of(root.id)).toEqual([first, second])
    forks.remove(first)
    forks.remove(root)
    expect([forks.of(root.id), forks.of(first.id)]).toEqual([[second], []])
    forks.remove(second)
    expect(forks.of(root.id)).toEqual([])
  })
})
