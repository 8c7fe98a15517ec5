import { aMessage, aToolCall } from '@holdfast/testkit/fixtures'
import { describe, expect, it } from 'vitest'
import { counted } from './counted.ts'
import { messageText } from './message-text.ts'

describe('a message in one line', () => {
  it('is what was said, without its breaks and with what hides in it', () => {
    expect(messageText(aMessage('user', { text: ' two\n lines \u202e ' }))).not.toMatch(/[\n\u202e]/)
    expect(messageText(aMessage('assistant', { text: 'a'.repeat(9999) })).length).toBeLessThan(200)
  })

  it('is the call and what it is about', () => {
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
  ])('of %d reads %s', (count, said) => {
    expect(counted(count, 'branch', 'branches')).toBe(said)
  })
})
