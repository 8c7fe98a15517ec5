import { aMeta } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createPaint } from '../terminal/output.ts'
import { ageOf, sessionTable } from './session-table.ts'

const plain = createPaint(false)
const now = Date.parse('2026-01-02T00:00:00.000Z')
const meta = (changes: Parameters<typeof aMeta>[0]) =>
  aMeta({ title: 'Fix the build', lastMessageAt: '2026-01-01T21:00:00.000Z', messageCount: 7, ...changes })

describe('the table of sessions', () => {
  it('lines up its columns', () => {
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

  it('keeps a hostile title on its line and off the terminal', () => {
    const text = sessionTable([meta({ title: 'a\u001b[2J\nb\tc\u202ed' })], now, plain)
    expect(text.split('\n')).toHaveLength(3)
    expect(text).toContain('a\\u{1b}[2J\\nb\\tc\\u{202e}d')
  })

  it('cuts a long title on a whole character', () => {
    const text = sessionTable([meta({ title: '😀'.repeat(60) })], now, plain)
    expect(text).toContain(`${'😀'.repeat(47)}…`)
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
])('calls %i ms ago %s', (ms, age) => {
  expect(ageOf(ms)).toBe(age)
})
