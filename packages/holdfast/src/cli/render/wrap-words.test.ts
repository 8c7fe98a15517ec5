import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createStreamWrap, wrapParts, wrapSentences } from './wrap-words.ts'

describe('sentences', () => {
  it('break at words, keep the indent of their line, and are one line where no terminal is', () => {
    const text = 'Deleted it.\n  The other session stays.'
    expect(wrapSentences(text, 16)).toBe('Deleted it.\n  The other\n  session stays.')
    expect(wrapSentences(text, null)).toBe(text)
  })

  it('count what is shown, not the colours', () => {
    expect(wrapSentences('\u001b[31mone two\u001b[39m', 7)).toBe('\u001b[31mone two\u001b[39m')
  })
})

it('parts stay whole and fill each line', () => {
  expect(wrapParts(['y once', 't this turn', 'n no'], '  ', 20)).toEqual(['y once  t this turn', 'n no'])
})

describe('a text that arrives in pieces', () => {
  const wrapped = (pieces: readonly string[], width: number) => {
    const wrap = createStreamWrap(width)
    return pieces.map(wrap.add).join('') + wrap.end()
  }

  it('breaks at words', () => {
    expect(wrapped(['The requ', 'est has one li', 'ne.\nNo', 'w.'], 16)).toBe('The request has\none line.\nNow.')
  })

  it('is the same however it is divided, and loses only spaces at the ends of lines', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(words, fc.nat(20), (all, cut) => {
        const text = all.join(' ')
        const shown = wrapped([text.slice(0, cut), text.slice(cut)], 10)
        expect(shown).toBe(wrapped([...text], 10))
        expect(shown.replaceAll(/\s+/g, ' ')).toBe(text)
        for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(10)
      }),
    )
  })
})
