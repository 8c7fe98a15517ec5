import { describe, expect, it } from 'vitest'
import { type Inline, parseInline, safeHref } from './inline.ts'

const text = (text: string): Inline => ({ type: 'text', text })

describe('runs of text', () => {
  it('reads strong, emphasis and struck text, one in the other', () => {
    expect(parseInline('a **b *c*** ~~d~~')).toEqual([
      text('a '),
      { type: 'strong', inner: [text('b '), { type: 'emphasis', inner: [text('c')] }] },
      text(' '),
      { type: 'struck', inner: [text('d')] },
    ])
  })

  it('leaves lone marks, sums and snake_case alone', () => {
    expect(parseInline('2 * 3 * 4, snake_case_name, **open')).toEqual([text('2 * 3 * 4, snake_case_name, **open')])
  })

  it('takes code verbatim', () => {
    expect(parseInline('`**x**` and `` a`b ``')).toEqual([
      { type: 'code', text: '**x**' },
      text(' and '),
      { type: 'code', text: 'a`b' },
    ])
  })

  it('obeys a backslash', () => {
    expect(parseInline('\\*no\\* C:\\dir')).toEqual([text('*no* C:\\dir')])
  })

  it('links to web pages, written out or bare, without the full stop behind', () => {
    expect(parseInline('[docs](https://a.test/x_(y)) see https://b.test/z.')).toEqual([
      { type: 'link', href: 'https://a.test/x_(y)', inner: [text('docs')] },
      text(' see '),
      { type: 'link', href: 'https://b.test/z', inner: [text('https://b.test/z')] },
      text('.'),
    ])
  })

  it('never links to anything but http and https', () => {
    for (const href of [
      'javascript:alert(1)',
      'data:text/html,x',
      '//evil.test',
      '/v1/login',
      'JaVaScRiPt:x',
      'https://',
    ])
      expect(safeHref(href)).toBeNull()
    expect(parseInline('[x](javascript:alert(1))')).toEqual([text('[x](javascript:alert(1))')])
  })

  it('loses no character of plain text', () => {
    const odd = '<b>&amp; "quotes" [brackets] (round) ~tilde~ h http:/ \\'
    expect(parseInline(odd)).toEqual([text(odd)])
  })

  it('stays quick on hostile text', () => {
    const started = performance.now()
    for (const mark of ['*', '_a', '**a', '`', '``` `', '[', '[](', '~~', '[a](b', 'http://'])
      parseInline(mark.repeat(9_000))
    expect(performance.now() - started).toBeLessThan(3000)
  })
})
