import type { Meta } from '@holdfast/protocol'
import { aMeta } from '@holdfast/testkit/fixtures'
import { describe, expect, it } from 'vitest'
import { dayText, foundRows, type ListRow, rowsOf } from './list-rows.ts'

const nowMs = new Date(2026, 10, 17, 12).getTime()
const daysAgo = (days: number) => new Date(2026, 10, 17 - days, 9).toISOString()
const session = (number: number, more: Partial<Meta> = {}): Meta => ({
  ...aMeta({ id: `ses_0${String(number).padStart(25, '0')}`, title: `s${number}`, lastMessageAt: daysAgo(0) }),
  ...more,
})

const text = (row: ListRow): string => {
  switch (row.kind) {
    case 'heading':
      return row.count === undefined ? `# ${row.text}` : `# ${row.text} ${row.count}`
    case 'session':
      return `${row.isWaiting ? '◆ ' : ''}${row.meta.title}`
    case 'subagents':
      return `${row.group.below.length} below`
    case 'subagent':
      return `- ${row.one.node.title}`
    case 'found':
      return `> ${row.hit.snippet}`
    case 'more':
      return `${row.count} more`
    case 'note':
      return row.text
  }
}
const options = { grouping: 'date', nowMs, opened: new Set<string>(), waiting: [] } as const

describe('the rows of the list', () => {
  it('are grouped by date, pinned sessions first', () => {
    const sessions = [
      session(9, { pinned: true, lastMessageAt: daysAgo(40) }),
      ...[session(8), session(7, { lastMessageAt: daysAgo(1) }), session(6, { lastMessageAt: daysAgo(3) })],
      ...[session(5, { lastMessageAt: daysAgo(12) }), session(4, { lastMessageAt: daysAgo(60) })],
    ]
    expect(rowsOf(sessions, options).map(text)).toEqual([
      ...['# Pinned', 's9', '# Today', 's8', '# Yesterday', 's7', '# Last 7 days', 's6'],
      ...['# Last 30 days', 's5', '# September', 's4'],
    ])
    expect(dayText('2024-03-05T12:00:00.000Z', nowMs)).toBe('March 2024')
  })

  it('are grouped by workspace, in the order of their latest sessions', () => {
    const [first, second] = [{ workspace: '/w/lamp' }, { workspace: '/w/docs' }]
    const sessions = [session(3, first), session(2, second), session(1, first)]
    const rows = rowsOf(sessions, { ...options, grouping: 'workspace' })
    expect(rows.map(text)).toEqual(['# lamp', 's3', 's1', '# docs', 's2'])
    expect(rows[0]).toMatchObject({ about: '/w/lamp' })
  })

  it('begin with all that wait, also those that are not loaded', () => {
    const old = session(1, { waiting: 1, lastMessageAt: daysAgo(300) })
    const here = session(2, { waiting: 1 })
    expect(rowsOf([session(3), here], { ...options, waiting: [here, old] }).map(text)).toEqual([
      ...['# Waiting for you 2', '◆ s1', '◆ s2', '# Today', 's3'],
    ])
  })

  it('have subagents under their parent, which waits with them', () => {
    const below = { subagent: { agent: 'general' }, parent: session(1).id } as Partial<Meta>
    const asked = session(3, { ...below, waiting: 1 })
    const sessions = [session(4), asked, session(2, below), session(1)]
    const rows = rowsOf(sessions, { ...options, opened: new Set([session(1).id]), waiting: [asked] })
    expect(rows.map(text)).toEqual([...['# Waiting for you 1', '◆ s1', '2 below', '- s2', '- s3', '# Today', 's4']])
  })

  it('of a search are a few sessions, then the messages', () => {
    const hit = {
      sessionId: session(1).id,
      title: 's1',
      messageId: 7,
      kind: 'user',
      at: daysAgo(0),
      snippet: 'lamp',
    } as const
    const sessions = [9, 8, 7, 6, 5, 4, 3].map((number) => session(number))
    const asked = { isWhole: false, isIndexing: false }
    expect(foundRows(sessions, [hit], asked).map(text)).toEqual([
      ...['# Sessions', 's9', 's8', 's7', 's6', 's5', '2 more', '# Messages', '> lamp'],
    ])
    expect(foundRows(sessions, null, { ...asked, isWhole: true })).toHaveLength(8)
  })
})
