import { afterEach, expect, it } from 'vitest'
import { formatTime } from './local-time.ts'

const zone = process.env['TZ']
afterEach(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

it.each([
  ['Asia/Tokyo', '2026-01-03 05:04:05'],
  ['America/New_York', '2026-01-02 15:04:05'],
])('formats a time in the zone of the machine: %s', (name, shown) => {
  process.env['TZ'] = name
  expect(formatTime('2026-01-02T20:04:05.678Z', false)).toBe(shown)
  expect(formatTime('2026-01-02T20:04:05.678Z', true)).toBe('2026-01-02 20:04:05 UTC')
})
