import { describe, expect, it } from 'vitest'
import { callSummary } from './call-summary.ts'

describe('callSummary', () => {
  it('prefers the command or the path over other arguments', () => {
    expect(callSummary({ args: { timeoutMs: 5, note: 'x', command: 'ls -la' } })).toBe('ls -la')
    expect(callSummary({ args: { content: 'hello', path: 'src/a.ts' } })).toBe('src/a.ts')
  })

  it('falls back to any text argument, or to nothing', () => {
    expect(callSummary({ args: { n: 1, word: 'kelp' } })).toBe('kelp')
    expect(callSummary({ args: { n: 1 } })).toBe('')
  })

  it('is one line and escapes hidden characters', () => {
    expect(callSummary({ args: { command: 'a\nb\u202ec' } })).toBe('a\\nb\\u{202e}c')
  })
})
