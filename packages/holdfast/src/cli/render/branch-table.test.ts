import { ListedBranch } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { createPaint } from '../terminal/output.ts'
import { branchTable } from './branch-table.ts'

const now = Date.parse('2026-01-02T00:00:00.000Z')
const at = '2026-01-01T21:00:00.000Z'

it('lines up the branches, each with its place and where it parts from the line', () => {
  const branches = ListedBranch.array().parse([
    { name: 'branch-1', turns: 3, messages: 16, at, differsAt: 19 },
    { name: 'another try', turns: 1, messages: 4, at, differsAt: null },
  ])
  expect(branchTable(branches, now, createPaint(false))).toBe(
    [
      'INDEX  NAME         TURNS  MESSAGES  LEFT  DIFFERS AT',
      '0      branch-1     3      16        3h    19',
      '1      another try  1      4         3h    –',
      '',
    ].join('\n'),
  )
})
