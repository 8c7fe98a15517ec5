import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Event } from './event.ts'
import { clip, firstLine, textOf } from './text-of.ts'

const anyText = fc.string({ unit: 'binary' })
const isHalved = (text: string, at: number) => /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1))

describe('clip', () => {
  it('returns a short text unchanged', () => {
    expect(clip('short', 5)).toBe('short')
  })

  it('drops a character rather than split a surrogate pair', () => {
    expect(clip('a😀b', 2)).toBe('a')
    expect(clip('a😀b', 3)).toBe('a😀')
  })

  it('never splits a pair, even in a text with unpaired surrogates', () => {
    expect(clip('\udc00a😀', 3)).toBe('\udc00a')
    fc.assert(
      fc.property(anyText, fc.nat(8), (text, max) => {
        const cut = clip(text, max)
        expect(cut.length).toBeLessThanOrEqual(max)
        expect(text.startsWith(cut)).toBe(true)
        expect(isHalved(text, cut.length)).toBe(false)
      }),
    )
  })
})

describe('firstLine', () => {
  it('returns the first line that is not empty', () => {
    expect(firstLine('\n\n  Fix the build \nand the docs', 80)).toBe('Fix the build')
  })

  it.each(['\r\n', '\n', '\r', '\u2028', '\u2029'])('ends at any line end (%j)', (end) => {
    expect(firstLine(`one${end}two`, 80)).toBe('one')
  })

  it('returns an empty string for blank text', () => {
    expect(firstLine(' \n\t ', 80)).toBe('')
  })
})

describe('textOf', () => {
  it('returns the text of messages, notes, summaries and tool results', () => {
    const outcome = { type: 'ok', output: { text: 'found it' } }
    const words = [
      { type: 'user.said', turn: 0, content: [{ type: 'text', text: 'hello' }] },
      { type: 'text.said', turn: 0, step: 3, text: 'hi', provider: 'demo' },
      { type: 'thinking.said', turn: 0, step: 3, text: 'hm', provider: 'demo' },
      { type: 'note.added', turn: 0, kind: 'system', level: 'info', text: 'noted' },
      {
        type: 'checkpoint.written',
        turn: 0,
        summary: 'so far',
        keepFrom: 1,
        tokensBefore: 9,
        tokensAfter: 1,
        why: 'asked',
      },
      { type: 'call.settled', call: 4, outcome, durationMs: 1 },
    ].map((event) => textOf(Event.parse(event)))
    expect(words).toEqual(['hello', 'hi', 'hm', 'noted', 'so far', 'found it'])
  })

  it('returns an empty string for events without text', () => {
    const denied = { type: 'denied', code: 'rejected', message: 'no' }
    expect(textOf(Event.parse({ type: 'turn.started', turn: 0, cause: 'prompt' }))).toBe('')
    expect(textOf(Event.parse({ type: 'call.settled', call: 4, outcome: denied, durationMs: null }))).toBe('')
  })
})
