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
  const of = (recentText: string, title = 'list', turnCount = 1) =>
    previewText({ title, recentText, preview: 'list', turnCount })

  it('is the first line of the first answer, as plain text', () => {
    expect(of('list\n## Done with **both** `files`\n- two\n```\n---')).toBe('Done with both files')
  })

  it('is the last line after several short turns', () => {
    expect(of('list\ntwo files\ncount\n1, 2, 3.\n```', 'list', 2)).toBe('1, 2, 3.')
  })

  it('is the beginning of a long message, with an ellipsis where it is cut', () => {
    expect(of(`Here it is:\n${'word '.repeat(100)}`.slice(0, 240), 'list', 3)).toBe('Here it is:')
    expect(
      of(
        'lamps '
          .repeat(100)
          .slice(0, 240 - 2)
          .padEnd(240, 'x'),
        'list',
        3,
      ),
    ).toMatch(/^lamps .*lamps…$/)
  })

  it('keeps the underscores of names, and drops those of emphasis', () => {
    expect(of('list\n_See_ __both__ of read_file and max_px_')).toBe('See both of read_file and max_px')
  })

  it('does not repeat the title', () => {
    expect([of('list'), of(''), of('', '')]).toEqual(['', '', 'list'])
  })
})
