import { aMessage, aToolCall } from '@holdfast/testkit/fixtures'
import { describe, expect, it } from 'vitest'
import { counted } from './format.ts'
import { callSummary, messageText, previewText } from './message-text.ts'

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

describe('a message in one line', () => {
  it('has no line breaks, and hidden characters are escaped', () => {
    expect(messageText(aMessage('user', { text: ' two\n lines \u202e ' }))).not.toMatch(/[\n\u202e]/)
    expect(messageText(aMessage('assistant', { text: 'a'.repeat(9999) })).length).toBeLessThan(200)
  })

  it('shows a tool call with its summary', () => {
    expect(messageText(aToolCall())).toBe('shell echo hi')
  })

  it('is never empty', () => {
    const notice = { level: 'info', text: '', code: 'compacted' } as const
    expect([messageText(aMessage('user', { text: '' })), messageText(aMessage('notice', notice))]).toEqual([
      'A file',
      'A checkpoint',
    ])
  })
})

describe('a count', () => {
  it.each([
    [1, '1 branch'],
    [0, '0 branches'],
    [1200, '1,200 branches'],
  ])('formats %d as %s', (count, expected) => {
    expect(counted(count, 'branch', 'branches')).toBe(expected)
  })
})

describe('the preview of a session', () => {
  const of = (recentText: string, title = 'list') => previewText({ title, recentText, preview: 'list' })

  it('is the last line with words, as plain text', () => {
    expect(of('list\n## Done\n- **two** `files`\n```\n---')).toBe('two files')
    expect(of('count\n1, 2, 3.')).toBe('1, 2, 3.')
  })

  it('does not repeat the title', () => {
    expect([of('list'), of(''), of('', '')]).toEqual(['', '', 'list'])
  })
})
