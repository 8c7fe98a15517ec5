import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Block,
  createSettlingParser,
  createStreamingParser,
  type Inline,
  parseMarkdown,
  safeHref,
} from './parse-markdown.ts'

const text = (text: string): Inline => ({ type: 'text', text })
const paragraph = (...inner: readonly Inline[]): Block => ({ type: 'paragraph', inner })
const item = (...blocks: readonly Block[]) => ({ checked: null, blocks })
const code = (language: string, text: string): Block => ({ type: 'code', language, text, isOpen: false })
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
      code('ts', '# not a heading\n\n- not a list'),
      plain('after'),
    ])
    expect(parseMarkdown('````\n```\n````')).toEqual([code('', '```')])
  })

  it('parses indented code', () => {
    expect(parseMarkdown('a\n\n    b\n      c')).toEqual([plain('a'), code('', 'b\n  c')])
  })

  it('shows a fence that is still streaming as code', () => {
    expect(parseMarkdown('```sh\nls')).toEqual([{ type: 'code', language: 'sh', text: 'ls', isOpen: true }])
    expect(parseMarkdown('```sh\nls\n``')).toMatchObject([{ isOpen: true }])
    expect(parseMarkdown('~~~~sh\nls\n~~~')).toMatchObject([{ isOpen: true }])
    expect(parseMarkdown('```')).toMatchObject([{ isOpen: true }])
    expect(parseMarkdown('- ```sh\n  ls\n  ````\n')).toMatchObject([{ items: [{ blocks: [{ isOpen: false }] }] }])
  })

  it('nests lists and paragraphs in list items', () => {
    expect(parseMarkdown('- a\n  1. b\n- c\n\n  more c\n\nend')).toEqual([
      {
        type: 'list',
        start: null,
        items: [
          item(plain('a'), { type: 'list', start: 1, items: [item(plain('b'))] }),
          item(plain('c'), plain('more c')),
        ],
      },
      plain('end'),
    ])
  })

  it('starts an ordered list at its own number', () => {
    expect(parseMarkdown('3. c\n4. d')).toEqual([
      { type: 'list', start: 3, items: [item(plain('c')), item(plain('d'))] },
    ])
  })

  it('shows task lists with boxes', () => {
    expect(parseMarkdown('- [x] done\n- [ ] **open**')).toEqual([
      {
        type: 'list',
        start: null,
        items: [
          { checked: true, blocks: [plain('done')] },
          { checked: false, blocks: [paragraph({ type: 'strong', inner: [text('open')] })] },
        ],
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

  it('takes images from the web and from the text itself, and nothing in which scripts run', () => {
    expect(inline('![a cat](https://a.test/cat.png)')).toEqual([
      { type: 'image', href: 'https://a.test/cat.png', text: 'a cat' },
    ])
    expect(inline('![dot](data:image/png;base64,iVBORw0KGgo=)')).toMatchObject([{ type: 'image', text: 'dot' }])
    for (const raw of ['![x](data:image/svg+xml,y)', '![x](data:image/svg+xml;base64,eA==)', '![x](javascript:y)'])
      expect(inline(raw)).toEqual([text(raw)])
  })
})

describe('footnotes', () => {
  const note = (number: number): Inline => ({ type: 'footnote', number })

  it('numbers notes in the order of the references, and puts them at the end', () => {
    expect(parseMarkdown('a[^x] b[^one] c[^x]\n\n[^one]: First\n[^x]: Second\n    more\n\n  - item\n\nend')).toEqual([
      paragraph(text('a'), note(1), text(' b'), note(2), text(' c'), note(1)),
      plain('end'),
      {
        type: 'footnotes',
        notes: [
          { number: 1, blocks: [plain('Second\nmore'), { type: 'list', start: null, items: [item(plain('item'))] }] },
          { number: 2, blocks: [plain('First')] },
        ],
      },
    ])
  })

  it('leaves a reference without a note as it was written', () => {
    expect(parseMarkdown('a[^x]')).toEqual([plain('a[^x]')])
  })

  it('shows a note that nothing refers to, and one that only a note refers to', () => {
    expect(parseMarkdown('a[^1]\n[^1]: see[^2]\n[^2]: two\n[^3]: three')).toMatchObject([
      { type: 'paragraph' },
      { notes: [{ number: 1, blocks: [paragraph(text('see'), note(2))] }, { number: 2 }, { number: 3 }] },
    ])
  })
})

describe('formulas', () => {
  const math = (tex: string, isDisplay = false): Inline => ({ type: 'math', tex, isDisplay })

  it('parses them within a line and over several', () => {
    expect(inline('so $a_1^2$, \\(b*c*d\\) and $$e$$.')).toEqual([
      ...[text('so '), math('a_1^2'), text(', '), math('b*c*d'), text(' and '), math('e', true), text('.')],
    ])
    expect(parseMarkdown('Then\n$$\na\n- b\n$$\nand\n\\[ c \\]')).toEqual([
      plain('Then'),
      { type: 'math', tex: 'a\n- b' },
      plain('and'),
      { type: 'math', tex: 'c' },
    ])
  })

  it.each([
    '$5 and $10',
    '$HOME/$PATH',
    '$A{x}:$B{x}',
    'a $ b $ c',
    '$$',
    'echo $1 $2',
    'C:\\$x',
    '$($(date))',
    '$(a)$(b)',
  ])('takes no formula from %j', (source) => expect(inline(source).some(({ type }) => type === 'math')).toBe(false))
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

  it('ends a raw tag that is never closed with its block', () => {
    expect(parseMarkdown('a <a href="x"> b <code>\n\nhttps://a.test *c*')).toMatchObject([
      { type: 'paragraph' },
      { inner: [{ type: 'link' }, { text: ' ' }, { type: 'emphasis' }] },
    ])
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
    '$',
    '$a ',
    '$$a\n# b\n',
    '\\(',
    '\\[\n# b\n',
    '[^a]: b\n',
    '[^a]',
    'a\n\n',
    'a\n# b\n',
    '[^a]: ',
  ])('takes bounded time for a long run of %j', (mark) => {
    const before = process.threadCpuUsage() // work, not time: other processes do not count
    parseMarkdown(mark.repeat(20_000 / mark.length))
    parseMarkdown(mark.repeat(95_000 / mark.length))
    parseMarkdown(mark.repeat(400_000 / mark.length))
    expect(process.threadCpuUsage(before).user).toBeLessThan(3_000_000)
  })

  it.each([
    ['lines of a list item', '- ', 'a|b\n', ''],
    ['lines of a numbered item', '1. a\n   ', 'a|b\n', ''],
    ['indented lines of an item', '- a\n', '  b\n', ''],
    ['link definitions in an item', '1. a\n   ', '[a]: b\n', ''],
    ['characters before an @', '', 'a.', '@'],
    ['second lines of tables without a first one', '', '|\n|-|\n', ''],
    ['second lines of tables in a quote', '', '> |\n> |-|\n', ''],
    ['second lines of tables in an item', '- a\n', '  |\n  |:-|\n', ''],
    ['tables of other widths', '', 'a|b\n-|-|-\n', ''],
    ['paragraphs with some such lines', '', `${'|\n|-|\n'.repeat(160)}\n`, ''],
  ])('takes bounded time for many %s', (_, before, mark, after) => {
    const cpu = process.threadCpuUsage()
    for (const length of [20_000, 95_000]) parseMarkdown(before + mark.repeat(length / mark.length) + after)
    expect(process.threadCpuUsage(cpu).user).toBeLessThan(500_000)
  })

  it('still parses many tables, and one table with many rows', () => {
    const table = `| a | b |\n|---|:-:|\n${'| some text | more text |\n'.repeat(20)}\n`
    expect(parseMarkdown(table.repeat(100)).map(({ type }) => type)).toEqual(Array(100).fill('table'))
    const long = `| a | b |\n|---|---|\n${'| some text | more text |\n'.repeat(3000)}`
    expect(parseMarkdown(long).map(({ type }) => type)).toEqual(['table'])
  })

  it('shows too many unmatched delimiters as plain text', () => {
    const text = '*a_'.repeat(1667)
    expect(parseMarkdown(text)).toEqual([{ type: 'paragraph', inner: [{ type: 'text', text }] }])
  })
})

describe('streaming', () => {
  /** Answers as models write them. */
  const documents = [
    [
      ...['# Lamp', '', 'The lamp **blinks** since `v2`; see [the log](https://a.test/log).', '', '1. Open `lamp.ts`.'],
      ...[
        '   ```ts',
        '   const slow = 2 * 3',
        '   ```',
        '2. Change it:',
        '',
        '   - first',
        '   - second',
        '',
        '     more',
      ],
      ...[
        '',
        '| Part | Cost |',
        '|:-----|-----:|',
        '| bulb | $3 |',
        '| wire | $4 |',
        '',
        '> A quote',
        'goes on',
        '',
        '---',
      ],
      ...['', 'Euler: $e^{i\\pi} = -1$ and', '$$', '\\sum_{k=1}^n k', '$$', '', '- [x] done', '- [ ] open', '', 'End.'],
    ].join('\n'),
    [
      ...[
        'Two notes[^a] and a [link][l].',
        '',
        '[l]: https://b.test "t"',
        '[^a]: The note',
        '    goes on.',
        '',
        'After[^b]',
      ],
      ...[
        '',
        '~~~py',
        'print("[^b]: x")',
        '~~~',
        '',
        '[^b]: last',
        '',
        'Setext',
        '======',
        '',
        '<div>',
        'raw',
        '</div>',
      ],
    ].join('\n'),
  ]
  // Markup of every kind of block, and the characters that begin, end or break it.
  const pieces = [
    ...['\n', '\n', '\n\n', '\r\n', '\r', ' ', '  ', '    ', '\t', 'a', 'b c', '\\', '&amp;', 'https://a.test'],
    ...['|', '|-', '| a | b |\n', '|---|---|\n', '- ', '* ', '1. ', '2) ', '[x] ', '> ', '# ', '===', '---', '***'],
    ...['```', '~~~', '`', '*', '_', '**', '~~', '[a]', '[a]: https://a.test', '[', '](', ')', '!', '"t"'],
    ...['$', '$$', '\n$$\n', '\\(', '\\)', '\\[', '\\]', '[^a]', '[^a]: ', '\n[^b]: c'],
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

  it('gives the same blocks at every letter of whole documents', () => {
    for (const document of documents) expectSameBlocks([...document])
  })

  it.each([
    ['a line that a table delimiter row would make a table', ['|---|---|\n* ', '\n|-', '](']],
    ['an empty list item before what may be a delimiter row', ['a\n1. \n|-\n', '\n', 'b']],
    ['a list that a later line continues', ['- a\n\n', '- ', '-', '-\n\nb\n\n', '  c']],
    ['more delimiters than are matched', Array.from({ length: 6 }, () => `${'*a* '.repeat(300)}\n\n`)],
  ])('gives the same blocks for %s', (_, chunks) => expectSameBlocks(chunks))

  it('keeps the objects of unchanged blocks in a text with definitions', () => {
    const parse = createStreamingParser()
    const first = parse('[a]: https://a.test\n\none [a]\n\ntwo[^1]\n\n[^1]: note\n\nthree')
    const second = parse('[a]: https://a.test\n\none [a]\n\ntwo[^1]\n\n[^1]: note\n\nthree four')
    expect(second[0]).toBe(first[0])
    expect(second[1]).toBe(first[1])
    expect(second[2]).toEqual(plain('three four'))
  })

  it('keeps the objects of settled blocks', () => {
    const parse = createStreamingParser()
    const first = parse('a\n\nb\n\nc\n\nd')
    const second = parse('a\n\nb\n\nc\n\nd e')
    expect(second[0]).toBe(first[0])
    expect(second.at(-1)).toEqual(plain('d e'))
  })

  it('formats a text of any length, and settles the blocks that it settled when the text was short', () => {
    const part = (number: number) =>
      `# Part ${number}\n\nSome *words* here.\n\n- one\n- two\n\n\`\`\`ts\nlet a\n\`\`\`\n\n`
    const document = Array.from({ length: 6000 }, (_, index) => part(index)).join('')
    const blocks = parseMarkdown(document)
    expect(blocks).toHaveLength(24_000)
    expect(blocks.at(-4)).toEqual({ type: 'heading', level: 1, inner: [text('Part 5999')] })
    const parse = createSettlingParser()
    let before = 0
    for (const length of [50_000, 99_000, 180_000, 250_000, document.length]) {
      const { blocks: shown, settled, settledText } = parse(document.slice(0, length))
      expect(settled).toBeGreaterThan(before)
      expect(shown.slice(0, settled)).toEqual(blocks.slice(0, settled))
      expect(document.startsWith(settledText)).toBe(true)
      before = settled
    }
    expect(parse(document).blocks).toEqual(blocks)
  })

  it('parses another text from its start', () => {
    const parse = createStreamingParser()
    parse('a\n\nb\n\nc\n\nd')
    expect(parse('x')).toEqual([plain('x')])
  })
})
