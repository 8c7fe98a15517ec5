import { noUsage } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import {
  beginningOf,
  contextHint,
  contextShort,
  contextSpoken,
  costText,
  durationText,
  knownStatus,
  modelText,
  oneLine,
  outputText,
  relativeTime,
  tokensText,
  usageText,
} from './format.ts'

it.each([
  [0, '0 ms'],
  [419.6, '420 ms'],
  [1240, '1.2 s'],
  [12_900, '12 s'],
  [125_000, '2 min 5 s'],
])('formats %d ms as %s', (ms, expected) => {
  expect(durationText(ms)).toBe(expected)
})

const now = Date.parse('2026-03-12T12:00:00Z')

describe('relative time', () => {
  it.each([
    ['2026-03-12T11:59:31Z', 'now'],
    ['2026-03-12T11:55:00Z', '5m'],
    ['2026-03-12T09:10:00Z', '2h'],
    ['2026-03-10T12:00:00Z', '2d'],
    ['2026-01-03T12:00:00Z', 'Jan 3'],
    ['2024-01-03T12:00:00Z', 'Jan 3, 2024'],
  ])('%s is %s', (at, expected) => {
    expect(relativeTime(at, now)).toBe(expected)
  })

  it('shows a time in the future as now', () => {
    expect(relativeTime('2026-03-12T12:05:00Z', now)).toBe('now')
  })

  it('is empty for an invalid time', () => {
    expect(relativeTime('yesterday', now)).toBe('')
  })
})

describe('usage', () => {
  it('shows an unknown cost as unknown, never as zero', () => {
    expect(costText(null)).toBe('cost unknown')
    expect(costText(0)).toBe('$0.00')
  })

  it('shows the digits of a small cost', () => {
    expect(costText(0.0042)).toBe('$0.0042')
    expect(costText(1.5)).toBe('$1.50')
  })

  it.each([
    [999, '999'],
    [1234, '1.2k'],
    [45_600, '46k'],
    [2_340_000, '2.3M'],
  ])('formats %d tokens as %s', (tokens, expected) => {
    expect(tokensText(tokens)).toBe(expected)
  })

  it('fits on one line', () => {
    const usage = { ...noUsage, input: 1200, output: 80, cacheRead: 5000, cost: null }
    expect(usageText(usage)).toBe('1.2k in (+5.0k cached) · 80 out · cost unknown')
  })
})

const counted = { tokens: 3200, contextTokens: 32_000, share: 0.1, isEstimate: false }

describe('context usage', () => {
  it('is shown relative to the limit of the model', () => {
    expect([contextShort(counted), contextSpoken(counted)]).toEqual(['3.2k / 32k', '3.2k of 32k tokens'])
    expect(contextHint(counted)).toBe('The context holds 3.2k of 32k tokens. Above 80 % old messages are summarized.')
  })

  it('marks an estimate and an assumed limit', () => {
    const guessed = { ...counted, isEstimate: true, contextTokens: null }
    expect([contextShort(guessed), contextSpoken(guessed)]).toEqual(['3.2k / 200k?', 'about 3.2k of 200k tokens'])
    expect(contextHint(guessed)).toContain('The limit of this model is not known')
  })
})

describe('the model in the header', () => {
  it('shows the model, and its fallback while one is used', () => {
    expect(modelText({ model: 'sim/model', fallback: null })).toBe('sim/model')
    expect(modelText({ model: 'sim/model', fallback: 'other/model' })).toBe('other/model instead of sim/model')
  })
})

it('turns line breaks into spaces and escapes hidden characters', () => {
  expect(oneLine(' run ls\n\n\tand\u202e go ')).toBe('run ls and\\u{202e} go')
})

it('removes colours and normalizes line ends', () => {
  expect(outputText('\u001b[31mred\u001b[0m\r\nplain')).toBe('red\nplain')
})

it('escapes other control sequences', () => {
  expect(outputText('\u001b[2Jgone\rover')).toBe('\\u{1b}[2Jgone\\u{d}over')
})

describe('the beginning of a long text', () => {
  it('has so many lines and letters, and is null for a text that is hardly longer', () => {
    expect(beginningOf('a\nb\nc\nd', 2, 100)).toBe('a\nb')
    expect(beginningOf('x'.repeat(200), 2, 100)).toBe('x'.repeat(100))
    expect(beginningOf('x'.repeat(110), 2, 100)).toBeNull()
  })
})

it('says of no session that it works on a server that is away', () => {
  expect(knownStatus('thinking', false)).toEqual({ dot: 'thinking', text: 'Working' })
  expect(knownStatus('thinking', true)).toEqual({ dot: 'idle', text: 'Was working when the connection was lost' })
  expect(knownStatus('error', true)).toEqual({ dot: 'error', text: 'Failed' })
})
