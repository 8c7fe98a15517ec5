import { describe, expect, it } from 'vitest'
import { fitHints } from '../views/full-view.ts'
import { type StatusFacts, statusRow } from './status.ts'

const view = {
  mode: 'exec',
  pendingApprovals: [],
  activity: 'idle',
  lastTurn: null,
  fallback: null,
  boundaries: [],
  model: 'anthropic/claude-sonnet-4-5',
  thinkingLevel: 'high',
  branch: 'branch-1',
  tokens: 4400,
}
const facts = { view, meta: { usage: { cost: 0.12 } }, here: null, presence: [], connection: { state: 'live' } }
const shown = (columns: number, more: object = {}) =>
  statusRow({ ...facts, ...more } as unknown as StatusFacts, columns, '? keys') // only what the line shows
    .map(({ text }) => text)
    .join('')

describe('the status line', () => {
  it('shows all there is to say if it fits', () => {
    expect(shown(120)).toMatch(
      /^ {2}exec · anthropic\/claude-sonnet-4-5 · think high · \S+ \d+% 4\.4k · \$0\.12 · ⎇ branch-1 · \? keys$/,
    )
  })

  it('keeps the model and the context in 40 columns, in short', () => {
    expect(shown(40)).toMatch(/^ {2}exec · claude-sonnet-4-5 · \d+% · \$0\.12$/)
  })

  it('says first that a call waits, or that another screen drives', () => {
    expect(shown(40, { view: { ...view, pendingApprovals: [{}] } })).toBe('  exec · waits for you · 2% · $0.12')
    const presence = [{ client: 'phone', role: 'driver' }]
    expect(shown(30, { presence, client: 'me' })).toBe('  exec · 2% · $0.12 · watching')
    expect(shown(24, { connection: { state: 'waiting' } })).toBe('  server gone, retrying')
  })
})

describe('the hints of a view', () => {
  const hints = '↑↓ choose   Enter opens   Tab all folders   type to search all text   Esc back'
  it('always say how to leave', () => {
    expect(fitHints(hints, 100)).toBe(hints)
    expect(fitHints(hints, 40)).toBe('↑↓ choose   Enter opens   Esc back')
    expect(fitHints('↑↓ scroll   p pin   q back   45%', 20)).toBe('↑↓ scroll   q back')
  })
})
