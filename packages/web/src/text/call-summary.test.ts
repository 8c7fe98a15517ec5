import { describe, expect, it } from 'vitest'
import { callSummary } from './call-summary.ts'

describe('the line that says what a call is about', () => {
  it('prefers the command or the path over other arguments', () => {
    expect(callSummary({ args: { timeoutMs: 5, note: 'x', command: 'ls -la' } })).toBe('ls -la')
    expect(callSummary({ args: { content: 'hello', path: 'src/a.ts' } })).toBe('src/a.ts')
  })

  it('takes any text when no telling argument is there, and nothing when there is none', () => {
    expect(callSummary({ args: { n: 1, word: 'kelp' } })).toBe('kelp')
    expect(callSummary({ args: { n: 1 } })).toBe('')
  })

  it('stays one line and spells out what cannot be seen', () => {
    expect(callSummary({ args: { command: 'a\nb\u202ec' } })).toBe('a\\nb\\u{202e}c')
  })
})
