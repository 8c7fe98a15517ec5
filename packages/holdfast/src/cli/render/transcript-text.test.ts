import type { CallView } from '@holdfast/protocol'
import { aHash, aMessage, aToolCall } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createPaint } from '../terminal/output.ts'
import { messageText } from './transcript-text.ts'
import { wrapSentences } from './wrap-words.ts'

const plain = createPaint(false)

describe('a message on a terminal', () => {
  it('shows the author and the text', () => {
    expect(messageText(aMessage('user', { text: 'hello\n\nthere\n' }), plain, true)).toBe(
      '\nyou  2026-01-02 03:04:05 UTC · turn 0 · message 7\n  hello\n\n  there\n',
    )
    expect(messageText(aMessage('assistant', { text: 'hi', interrupted: true }), plain)).toContain(
      'agent (interrupted)',
    )
  })

  it('shows a call with its arguments, outcome and result', () => {
    expect(messageText(aToolCall({}), plain, true)).toBe(
      '\ntool shell {"command":"echo hi"}  2026-01-02 03:04:05 UTC · turn 0 · call 7\n  complete, 12 ms, approved by cli\n  hi\n',
    )
  })

  it('tells an approval by a flag, by a rule and by a person apart', () => {
    const shown = (approvedBy: CallView['approvedBy']) => messageText(aToolCall({ approvedBy }), plain)
    expect(shown({ client: null, via: '--yes' })).toContain('12 ms, approved by --yes\n')
    expect(shown({ rule: 'your rule `echo **`' })).toContain('12 ms, allowed by your rule')
    expect(shown({ client: null })).toContain('12 ms, approved by a person\n')
  })

  it('says that changes outside a boundary are in the file, and how to put it back', () => {
    const files = [{ path: 'a.ts', change: 'modified' as const, outside: true as const }]
    const failed = aToolCall({ status: 'error', files })
    expect(messageText(failed, plain)).toContain(
      `The change is in a.ts. To put back what the call changed: holdfast tell <session> restoreFiles call=${failed.id}\n`,
    )
    expect(messageText(aToolCall({}), plain)).not.toContain('restoreFiles')
  })

  it('shows the approval a call waits for', () => {
    const approval = { id: 17, preview: { type: 'command' as const, command: 'echo hi', cwd: '/work' } }
    const waiting = aToolCall({ status: 'waiting', result: null, durationMs: null, approvedBy: null, approval })
    expect(messageText(waiting, plain)).toContain('waiting, asks for approval 17')
  })

  it('names the files of a message without text', () => {
    const parts = [{ type: 'file' as const, blob: aHash, mediaType: 'image/png', name: 'a.png', bytes: 10 }]
    expect(messageText(aMessage('user', { text: '', parts }), plain)).toContain('[a.png, 10 bytes]')
  })

  it('hides the usage of a step, but shows why it failed', () => {
    expect(messageText(aMessage('usage', { finish: 'stop', usage: null }), plain)).toBe('')
    const failed = aMessage('usage', { finish: 'failed', usage: null, fault: { kind: 'rejected_key', message: 'No.' } })
    expect(messageText(failed, plain)).toContain('No.')
  })

  it('wraps what is said for a narrow terminal, but no code and no call', () => {
    const wrap = (text: string) => wrapSentences(text, 30)
    const text = 'One two three four five six seven.\n```\none two three four five six seven\n```'
    expect(messageText(aMessage('assistant', { text }), plain, true, wrap)).toContain(
      '\n  One two three four five six\n  seven.\n  ```\n  one two three four five six seven\n  ```\n',
    )
    const call = aToolCall({ tool: 'shell', args: { command: 'echo one two three four five' } })
    expect(messageText(call, plain, true, wrap)).toContain('tool shell {"command":"echo one two three four five"}')
  })

  it('escapes control characters', () => {
    const hostile = '\u001b]0;owned\u0007\r\u009b2J\u202e'
    for (const text of [
      messageText(aMessage('user', { text: hostile }), plain),
      messageText(aMessage('assistant', { text: hostile }), plain),
      messageText(aToolCall({ tool: hostile, args: { x: hostile }, result: { text: hostile } }), plain),
      messageText(aMessage('system', { level: 'error', text: hostile }), plain),
    ]) {
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    }
  })
})
