import { describe, expect, it } from 'vitest'
import { relativeTime } from './relative-time.ts'

const now = Date.parse('2026-03-12T12:00:00Z')

describe('relative time', () => {
  it.each([
    ['2026-03-12T11:59:31Z', 'now'],
    ['2026-03-12T11:55:00Z', '5m'],
    ['2026-03-12T09:10:00Z', '2h'],
    ['2026-03-10T12:00:00Z', '2d'],
    ['2026-01-03T12:00:00Z', 'Jan 3'],
    ['2024-01-03T12:00:00Z', 'Jan 3, 2024'],
  ])('%s is %s', (at, said) => {
    expect(relativeTime(at, now)).toBe(said)
  })

  it('shows a time in the future as now', () => {
    expect(relativeTime('2026-03-12T12:05:00Z', now)).toBe('now')
  })

  it('is empty for an invalid time', () => {
    expect(relativeTime('yesterday', now)).toBe('')
  })
})
