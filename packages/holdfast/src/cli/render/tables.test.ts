import { ListedBranch } from '@holdfast/protocol'
import { aMeta } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createPaint } from '../terminal/output.ts'
import { branchTable, formatAge, sessionTable } from './tables.ts'

const plain = { paint: createPaint(false), columns: null }
const now = Date.parse('2026-01-02T00:00:00.000Z')
const meta = (changes: Parameters<typeof aMeta>[0]) =>
  aMeta({ title: 'Fix the build', lastMessageAt: '2026-01-01T21:00:00.000Z', messageCount: 7, ...changes })

describe('sessionTable', () => {
  it('aligns its columns', () => {
    const rows = [meta({}), meta({ handle: 'old-bay-1', title: 'x', status: 'tool_executing' })]
    expect(sessionTable(rows, now, plain)).toBe(
      [
        'HANDLE          TITLE          STATUS          AGE  MESSAGES  MODEL',
        'calm-harbor-12  Fix the build  idle            3h   7         demo/agent',
        'old-bay-1       x              tool_executing  3h   7         demo/agent',
        '',
      ].join('\n'),
    )
  })

  it('says that a session waits for an approval, instead of its status', () => {
    expect(sessionTable([meta({ status: 'tool_executing', waiting: 2 })], now, plain)).toContain('waiting  3h')
  })

  it('escapes control characters in a title', () => {
    const text = sessionTable([meta({ title: 'a\u001b[2J\nb\tc\u202ed' })], now, plain)
    expect(text.split('\n')).toHaveLength(3)
    expect(text).toContain('a\\u{1b}[2J\\nb\\tc\\u{202e}d')
  })

  it('cuts a long title between characters', () => {
    const text = sessionTable([meta({ title: '😀'.repeat(60) })], now, plain)
    expect(text).toContain(`${'😀'.repeat(23)}…`)
    expect(text.isWellFormed()).toBe(true)
  })
})

it.each([
  [-5000, 'now'],
  [59_000, 'now'],
  [60_000, '1m'],
  [3 * 3_600_000, '3h'],
  [47 * 3_600_000, '1d'],
  [15 * 24 * 3_600_000, '2w'],
  [800 * 24 * 3_600_000, '2y'],
])('formats %i ms as %s', (ms, age) => {
  expect(formatAge(ms)).toBe(age)
})

it('aligns the branches with their index and the message at which they differ', () => {
  const at = '2026-01-01T21:00:00.000Z'
  const branches = ListedBranch.array().parse([
    { name: 'branch-1', turns: 3, messages: 16, at, differsAt: 19 },
    { name: 'another try', turns: 1, messages: 4, at, differsAt: null },
  ])
  expect(branchTable(branches, now, plain)).toBe(
    [
      'INDEX  NAME         TURNS  MESSAGES  SAVED  DIFFERS AT',
      '0      branch-1     3      16        3h     19',
      '1      another try  1      4         3h     –',
      '',
    ].join('\n'),
  )
})
