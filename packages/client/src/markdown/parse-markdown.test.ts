import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Block, createStreamingParser, type Inline, parseMarkdown, safeHref } from './parse-markdown.ts'

const text = (text: string): Inline => ({ type: 'text', text })
const paragraph = (...inner: readonly Inline[]): Block => ({ type: 'paragraph', inner })
const plain = (words: string): Block => paragraph(text(words))
const inline = (source: string): readonly Inline[] => {
  const [block] = parseMarkdown(source)
  return block?.type === 'paragraph' ? block.inner : []
}

describe('blocks', () => {
  it('separates paragraphs by blank lines and keeps single line ends', () => {
    expect(parseMarkdown('one\r\ntwo\n\n\nthree')).toEqual([plain('one\ntwo'), plain('three')])
  })

  it('parses headings of both forms, but not a hash without a space', () => {
    expect(parseMarkdown('## Two ##\n#no\n\nTop\n===')).toEqual([
      { type: 'heading', level: 2, inner: [text('Two')] },
      plain('#no'),
      { type: 'heading', level: 1, inner: [text('Top')] },
    ])
  })

  it('keeps fenced code verbatim', () => {
    expect(parseMarkdown('```ts title="x"\n# not a heading\n\n- not a list\n```\nafter')).toEqual([
      { type: 'code', language: 'ts', text: '# not a heading\n\n- not a list' },
      plain('after'),
    ])
    expect(parseMarkdown('````\n```\n````')).toEqual([{ type: 'code', language: '', text: '```' }])
  })

  it('parses indented code', () => {
    expect(parseMarkdown('a\n\n    b\n      c')).toEqual([plain('a'), { type: 'code', language: '', text: 'b\n  c' }])
  })

  it('shows a fence that is still streaming as code', () => {
    expect(parseMarkdown('```sh\nls')).toEqual([{ type: 'code', language: 'sh', text: 'ls' }])
  })

  it('nests lists and paragraphs in list items', () => {
    expect(parseMarkdown('- a\n  1. b\n- c\n\n  more c\n\nend')).toEqual([
      {
        type: 'list',
        start: null,
        items: [
          [plain('a'), { type: 'list', start: 1, items: [[plain('b')]] }],
          [plain('c'), plain('more c')],
        ],
      },
      plain('end'),
    ])
  })

  it('starts an ordered list at its own number', () => {
    expect(parseMarkdown('3. c\n4. d')).toEqual([{ type: 'list', start: 3, items: [[plain('c')], [plain('d')]] }])
  })

  it('shows task lists with boxes', () => {
    expect(parseMarkdown('- [x] done\n- [ ] **open**')).toEqual([
      {
        type: 'list',
        start: null,
        items: [[plain('☑ done')], [paragraph(text('☐ '), { type: 'strong', inner: [text('open')] })]],
      },
    ])
  })

  it('parses quotes, rules and tables with alignment', () => {
    expect(parseMarkdown('> a\n> b\n\n---\n\n| x | y |\n|---|:-:|\n| 1 | a\\|b |')).toEqual([
      { type: 'quote', blocks: [plain('a\nb')] },
      { type: 'rule' },
      {
        type: 'table',
        head: [
          { align: null, inner: [text('x')] },
          { align: 'center', inner: [text('y')] },
        ],
        rows: [
          [
            { align: null, inner: [text('1')] },
            { align: 'center', inner: [text('a|b')] },
          ],
        ],
      },
    ])
  })

  it('starts a list right after a paragraph, but takes a year at the start of a line for text', () => {
    expect(parseMarkdown('Steps:\n- one').map(({ type }) => type)).toEqual(['paragraph', 'list'])
    expect(parseMarkdown('It was in\n1984. Then').map(({ type }) => type)).toEqual(['paragraph'])
  })
})

describe('inline text', () => {
  it('parses strong, emphasis and struck text, also nested', () => {
    expect(inline('a **b *c*** ~~d~~')).toEqual([
      text('a '),
      { type: 'strong', inner: [text('b '), { type: 'emphasis', inner: [text('c')] }] },
      text(' '),
      { type: 'struck', inner: [text('d')] },
    ])
  })

  it('leaves single marks, products and snake_case unchanged', () => {
    expect(inline('2 * 3 * 4, snake_case_name, **open')).toEqual([text('2 * 3 * 4, snake_case_name, **open')])
  })

  it('keeps code verbatim', () => {
    expect(inline('`**x**` and `` a`b ``')).toEqual([
      { type: 'code', text: '**x**' },
      text(' and '),
      { type: 'code', text: 'a`b' },
    ])
  })

  it('handles backslash escapes, line breaks and character references', () => {
    expect(inline('\\*no\\* C:\\dir')).toEqual([text('*no* C:\\dir')])
    expect(inline('a  \nb\\\nc')).toEqual([text('a\nb\nc')])
    expect(inline('&lt;b&gt; &amp;amp; &#65;&#x42;&#0; &wombat;')).toEqual([text('<b> &amp; AB\ufffd &wombat;')])
  })

  it('links to web pages, written out, bare, or by reference', () => {
    expect(inline('[docs](https://a.test/x_(y)) see https://b.test/z.')).toEqual([
      { type: 'link', href: 'https://a.test/x_(y)', inner: [text('docs')] },
      text(' see '),
      { type: 'link', href: 'https://b.test/z', inner: [text('https://b.test/z')] },
      text('.'),
    ])
    expect(inline('[docs][1]\n\n[1]: https://a.test/')).toEqual([
      { type: 'link', href: 'https://a.test/', inner: [text('docs')] },
    ])
  })

  it('links images and never loads them', () => {
    expect(inline('![a cat](https://a.test/cat.png)')).toEqual([
      { type: 'link', href: 'https://a.test/cat.png', inner: [text('a cat')] },
    ])
    expect(inline('![x](data:image/svg+xml,y)')).toEqual([text('![x](data:image/svg+xml,y)')])
  })
})

describe('hostile text', () => {
  it('links only to http and https', () => {
    for (const href of [
      'javascript:alert(1)',
      'data:text/html,x',
      '//evil.test',
      '/v1/login',
      'JaVaScRiPt:x',
      'https://',
    ])
      expect(safeHref(href)).toBeNull()
    for (const link of ['[x](javascript:alert(1))', '<javascript:alert(1)>', '[x](java&#115;cript:alert(1))'])
      expect(JSON.stringify(parseMarkdown(link))).not.toContain('"link"')
    expect(inline('[x](javascript:alert(1))')).toEqual([text('[x](javascript:alert(1))')])
  })

  it('shows raw HTML as text', () => {
    expect(parseMarkdown('<div onclick="x">\n<b>hi</b>\n</div>')).toEqual([
      plain('<div onclick="x">\n<b>hi</b>\n</div>'),
    ])
    expect(inline('a <img src=x onerror=y> b')).toEqual([text('a <img src=x onerror=y> b')])
    expect(parseMarkdown('<!-- hidden -->')).toEqual([plain('<!-- hidden -->')])
  })

  it('limits nesting', () => {
    const depth = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0
    for (const mark of ['> ', '- ', '1) ', '>', '*a _b '])
      expect(depth(parseMarkdown(mark.repeat(5000)))).toBeLessThan(60)
  })

  it('never throws and never loses text without markup', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (any) => {
        parseMarkdown(any)
      }),
    )
    fc.assert(
      fc.property(fc.stringMatching(/^[a-zé ]*[a-zé]$/u), (words) => {
        expect(JSON.stringify(parseMarkdown(words))).toContain(words.trim())
      }),
    )
  })

  it.each([
    '[',
    '*',
    '*a_',
    '_a',
    '**a',
    '`',
    '``` `',
    '[](',
    '~~',
    '[a](b',
    'http://',
    '> ',
    '- ',
    '|',
    '<',
    '<!--',
    '![',
    '1. x\n',
    '=\n',
    '*a_',
    '>',
    '> a\nb\n',
    '- > a\nb\n',
    '- a\n',
    '- a\n\n  ',
    '1.\n',
  ])('takes bounded time for a long run of %j', (mark) => {
    const before = process.threadCpuUsage() // work, not time: other processes do not count
    parseMarkdown(mark.repeat(20_000 / mark.length))
    parseMarkdown(mark.repeat(95_000 / mark.length))
    parseMarkdown(mark.repeat(1_000_000 / mark.length))
    expect(process.threadCpuUsage(before).user).toBeLessThan(3_000_000)
  })

  it.each([
    ['lines of a list item', '- ', 'a|b\n', ''],
    ['lines of a numbered item', '1. a\n   ', 'a|b\n', ''],
    ['indented lines of an item', '- a\n', '  b\n', ''],
    ['link definitions in an item', '1. a\n   ', '[a]: b\n', ''],
    ['characters before an @', '', 'a.', '@'],
  ])('takes bounded time for many %s', (_, before, mark, after) => {
    const cpu = process.threadCpuUsage()
    for (const length of [20_000, 95_000]) parseMarkdown(before + mark.repeat(length / mark.length) + after)
    expect(process.threadCpuUsage(cpu).user).toBeLessThan(500_000)
  })

  it('shows too many unmatched delimiters as plain text', () => {
    const text = '*a_'.repeat(1667)
    expect(parseMarkdown(text)).toEqual([{ type: 'paragraph', inner: [{ type: 'text', text }] }])
  })
})

describe('streaming', () => {
  // Markup of every kind of block, and the characters that begin, end or break it.
  const pieces = [
    ...['\n', '\n', '\n\n', '\r\n', '\r', ' ', '  ', '    ', '\t', 'a', 'b c', '\\', '&amp;', 'https://a.test'],
    ...['|', '|-', '| a | b |\n', '|---|---|\n', '- ', '* ', '1. ', '2) ', '[x] ', '> ', '# ', '===', '---', '***'],
    ...['```', '~~~', '`', '*', '_', '**', '~~', '[a]', '[a]: https://a.test', '[', '](', ')', '!', '"t"'],
    ...['<', '<div>', '</div>', '<pre>', '</pre>', '<!--', '-->', '<?', '?>', '<b>'],
  ]
  const chunk = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''))

  const expectSameBlocks = (chunks: readonly string[]) => {
    const parse = createStreamingParser()
    let grown = ''
    for (const one of chunks) {
      grown += one
      expect(parse(grown)).toEqual(parseMarkdown(grown))
    }
  }

  it('gives the same blocks as parsing the whole text, at every prefix', () => {
    const chunks = fc.array(chunk, { maxLength: 15, size: 'max' })
    fc.assert(fc.property(chunks, expectSameBlocks), { seed: 20_261_115, numRuns: 300 })
  })

  it.each([
    ['a line that a table delimiter row would make a table', ['|---|---|\n* ', '\n|-', '](']],
    ['an empty list item before what may be a delimiter row', ['a\n1. \n|-\n', '\n', 'b']],
    ['a list that a later line continues', ['- a\n\n', '- ', '-', '-\n\nb\n\n', '  c']],
    ['more delimiters than are matched', Array.from({ length: 6 }, () => `${'*a* '.repeat(300)}\n\n`)],
  ])('gives the same blocks for %s', (_, chunks) => expectSameBlocks(chunks))

  it('keeps the objects of settled blocks', () => {
    const parse = createStreamingParser()
    const first = parse('a\n\nb\n\nc\n\nd')
    const second = parse('a\n\nb\n\nc\n\nd e')
    expect(second[0]).toBe(first[0])
    expect(second.at(-1)).toEqual(plain('d e'))
  })

  it('parses another text from its start', () => {
    const parse = createStreamingParser()
    parse('a\n\nb\n\nc\n\nd')
    expect(parse('x')).toEqual([plain('x')])
  })
})
