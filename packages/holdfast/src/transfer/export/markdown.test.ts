import { aMessage, aToolCall } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { message } from './markdown.ts'

describe('message as Markdown', () => {
  it('writes text unchanged', () => {
    expect(message(aMessage('assistant', { text: '# A\n\n- b' }))).toBe(
      '\n## Agent · 2026-01-02T03:04:05.678Z\n\n# A\n\n- b\n',
    )
  })

  it('quotes thinking', () => {
    expect(message(aMessage('thinking', { text: 'a\n\nb' }))).toContain('> a\n>\n> b\n')
  })

  it('fences arguments and results with a fence that nothing inside can close', () => {
    const text = message(aToolCall({ result: { text: 'x\n````\n# not a heading\n' } }))
    expect(text).toContain('`````text\nx\n````\n# not a heading\n`````\n')
    expect(text).toContain('```json\n{\n  "command": "echo hi"\n}\n```')
    expect(text).toContain('*complete, 12 ms, approved by cli*')
  })

  it('escapes control characters but keeps joiners', () => {
    const text = message(aMessage('user', { text: '\u001b[2J نمی\u200cخواهم 👩\u200d💻' }))
    expect(text).toContain('\\u{1b}[2J نمی\u200cخواهم 👩\u200d💻')
  })

  it('writes nothing for usage', () => {
    expect(message(aMessage('usage', { finish: 'stop', usage: null }))).toBe('')
  })
})
