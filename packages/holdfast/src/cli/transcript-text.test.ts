import { describe, expect, it } from 'vitest'
import { createPaint } from './output.ts'
import { message, toolCall } from './testing/messages.ts'
import { messageText } from './transcript-text.ts'

const plain = createPaint(false)

describe('a message on a terminal', () => {
  it('says who spoke, and what', () => {
    expect(messageText(message('user', { text: 'hello\n\nthere\n', parts: [] }), plain)).toBe(
      '\nyou  2026-01-02 03:04:05\n  hello\n\n  there\n',
    )
    expect(messageText(message('assistant', { text: 'hi', interrupted: true }), plain)).toContain('agent (interrupted)')
  })

  it('shows a call with what it was given, what became of it and what it returned', () => {
    expect(messageText(toolCall({}), plain)).toBe(
      '\ntool shell {"command":"echo hi"}  2026-01-02 03:04:05\n  complete, 12 ms, approved by cli\n  hi\n',
    )
  })

  it('says which answer a call waits for', () => {
    const waiting = { status: 'waiting', result: null, durationMs: null, approvedBy: null, approval: { id: 17 } }
    expect(messageText(toolCall(waiting), plain)).toContain('waiting, asks for approval 17')
  })

  it('names the files of a message without words', () => {
    const parts = [{ type: 'file', blob: 'x', mediaType: 'image/png', name: 'a.png', bytes: 10 }]
    expect(messageText(message('user', { text: '', parts }), plain)).toContain('[a.png, 10 bytes]')
  })

  it('is silent about what a step used, and not about why it failed', () => {
    expect(messageText(message('usage', { finish: 'stop', usage: null }), plain)).toBe('')
    const failed = message('usage', { finish: 'failed', usage: null, fault: { kind: 'rejected_key', message: 'No.' } })
    expect(messageText(failed, plain)).toContain('No.')
  })

  it('obeys nothing that came from outside', () => {
    const hostile = '\u001b]0;owned\u0007\r\u009b2J\u202e'
    for (const text of [
      messageText(message('user', { text: hostile, parts: [] }), plain),
      messageText(message('assistant', { text: hostile }), plain),
      messageText(toolCall({ tool: hostile, args: { x: hostile }, result: { text: hostile } }), plain),
      messageText(message('system', { level: 'error', text: hostile }), plain),
    ]) {
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    }
  })
})
