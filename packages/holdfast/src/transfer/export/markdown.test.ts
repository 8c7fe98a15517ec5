import { aMessage, aToolCall } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { messageMarkdown } from './markdown.ts'

describe('a message as markdown', () => {
  it('keeps what was said as it was said', () => {
    expect(messageMarkdown(aMessage('assistant', { text: '# A\n\n- b' }))).toBe(
      '\n## Agent · 2026-01-02T03:04:05.678Z\n\n# A\n\n- b\n',
    )
  })

  it('quotes what the model thought', () => {
    expect(messageMarkdown(aMessage('thinking', { text: 'a\n\nb' }))).toContain('> a\n>\n> b\n')
  })

  it('fences what a tool was given and returned so that nothing inside can end the fence', () => {
    const text = messageMarkdown(aToolCall({ result: { text: 'x\n````\n# not a heading\n' } }))
    expect(text).toContain('`````text\nx\n````\n# not a heading\n`````\n')
    expect(text).toContain('```json\n{\n  "command": "echo hi"\n}\n```')
    expect(text).toContain('*complete, 12 ms, approved by cli*')
  })

  it('spells out control characters but leaves joiners, which are spelling', () => {
    const text = messageMarkdown(aMessage('user', { text: '\u001b[2J نمی\u200cخواهم 👩\u200d💻' }))
    expect(text).toContain('\\u{1b}[2J نمی\u200cخواهم 👩\u200d💻')
  })

  it('holds nothing for what a step used', () => {
    expect(messageMarkdown(aMessage('usage', { finish: 'stop', usage: null }))).toBe('')
  })
})
