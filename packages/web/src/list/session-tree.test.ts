import { expect, it } from 'vitest'
import { groupSessions, treeBelow } from './session-tree.ts'

const node = (id: string, parent?: string) => ({ id, ...(parent !== undefined && { parent }) })
const subagent = (id: string, parent: string) => ({ ...node(id, parent), subagent: { agent: 'general' } })
const meta = (given: object) => given as Parameters<typeof groupSessions>[0][number]

it('puts each subagent after the one that started it', () => {
  const nodes = [node('b', 'a'), node('d', 'a'), node('c', 'b'), node('x', 'other')]
  expect(treeBelow('a', nodes).map(({ node: { id }, level }) => [id, level])).toEqual([
    ['b', 0],
    ['c', 1],
    ['d', 0],
  ])
})

it('lists subagents under their session, oldest first, and forks beside it', () => {
  const sessions = [subagent('c', 'a'), node('fork', 'a'), node('a'), subagent('b', 'a'), subagent('e', 'b')].map(meta)
  const rows = groupSessions(sessions).map((row) => [row.meta.id, row.below.map(({ node: { id } }) => id)])
  expect(rows).toEqual([
    ['fork', []],
    ['a', ['b', 'e', 'c']],
  ])
})

it('keeps a subagent in the list if its parent is not there', () => {
  expect(groupSessions([meta(subagent('b', 'gone'))])).toHaveLength(1)
})
