import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { replaceText } from './replace-text.ts'
import { applySplices } from './splice.ts'

const edits: readonly (readonly [string, string, string, string, string, string])[] = [
  ['a passage', 'one\ntwo\nthree\n', 'two', '2', 'one\n2\nthree\n', 'exact'],
  ['a part of a line', 'let x = 1\n', '= 1', '= 2', 'let x = 2\n', 'exact'],
  [
    'lines of a file with CRLF, asked for with LF',
    'a\r\nb\r\nc\r\n',
    'a\nb',
    'a\nB\nB2',
    'a\r\nB\r\nB2\r\nc\r\n',
    'exact',
  ],
  ['mixed ends, each line with its own', 'a\r\nb\nc\r\n', 'b\nc', 'B\nC', 'a\r\nB\nC\r\n', 'exact'],
  ['ends that the request spells out', 'one\r\ntwo\r\n', 'one\r\n', '1\n', '1\ntwo\r\n', 'exact'],
  ['a line into two in a file with CRLF', 'a\r\nb\r\n', 'b', 'b\nc', 'a\r\nb\r\nc\r\n', 'exact'],
  ['dollar signs as they are', 'price', 'price', "$& $1 $' $$", "$& $1 $' $$", 'exact'],
  [
    'with new_text as it is given, whatever its quotes',
    "say('a')\n",
    "'a'",
    '“a” ‘b’ — c',
    'say(“a” ‘b’ — c)\n',
    'exact',
  ],
  ['a line with the next one', 'a\nb\n', 'a\n', 'a', 'ab\n', 'exact'],
  ['all of a file away', 'gone', 'gone', '', '', 'exact'],
  ['with trailing blanks in the file', 'a  \nb\t\nc\n', 'a\nb\n', 'a\nB\n', 'a  \nB\nc\n', 'trailing blanks'],
  ['with trailing blanks in the request', 'a\nb\nc\n', 'a \nb  \n', 'a \nB\n', 'a\nB\nc\n', 'trailing blanks'],
  ['a last line without a line feed', 'a\nb', 'b\n', 'B\n', 'a\nB', 'trailing blanks'],
  ['between typographic quotes, which stay', 'say(“hi”)\n', 'say("hi")', 'say("ho")', 'say(“ho”)\n', 'typography'],
  [
    'a no-break space and a dash, which stay',
    'a\u00a0– b\nc\n',
    'a - b\nc',
    'a - b\nd',
    'a\u00a0– b\nd\n',
    'typography',
  ],
  [
    'a block that is indented more',
    '  if x:\n    y\n',
    'if x:\n  y',
    'if x:\n  z\n  w',
    '  if x:\n    z\n    w\n',
    'indent',
  ],
  ['a block that is indented less', 'if x:\n  y\n', '  if x:\n    y\n', '  if x:\n    z\n', 'if x:\n  z\n', 'indent'],
  [
    'escapes typed as text',
    'print("a")\nprint("b")\n',
    'print(\\"a\\")\\nprint',
    'show(\\"a\\")\\nprint',
    'show("a")\nprint("b")\n',
    'escapes',
  ],
  [
    'blank lines around old_text',
    'const one = 1\n',
    '\nconst one = 1\n\n',
    '\nconst two = 2\n\n',
    'const two = 2\n',
    'escapes',
  ],
]

describe('a replacement', () => {
  it.each(edits)('replaces %s', (_, text, oldText, newText, expected, tier) => {
    const replaced = replaceText(text, { oldText, newText })
    // Without the end of the last line, only looser tiers can find it: that tier is named by what it ignored.
    expect(replaced).toMatchObject({ ok: true, value: { text: expected } })
    if (replaced.ok) expect(applySplices(text, replaced.value.splices)).toBe(expected)
    if (replaced.ok && text.endsWith('\n')) expect(replaced.value.tier).toBe(tier)
  })

  it.each([
    ['not there', 'one\n', 'two', 'x', 'no_match', {}],
    ['there more than once', 'x\ny\nx\n\nx', 'x', 'z', 'ambiguous', { lines: [1, 3, 5], count: 3 }],
    ['there more than once, overlapping', 'aaa', 'aa', 'z', 'ambiguous', { lines: [1, 1] }],
    ['there twice in a loose tier', 'x \ny\nx  \ny\n', 'x\ny\n', 'z\n', 'ambiguous', { lines: [1, 3] }],
    ['almost there', 'x = 1\ny = 2\nz = 3\n', 'x = 1\ny = 99\nz = 3', 'w', 'no_match', { nearest: 1, line: 2 }],
    ['indented with tabs, not blanks', '\tif x:\n\t\ty()\n', '  if x:\n    y()\n', 'w', 'no_match', {}],
    ['a single line with another indent', '    b()\n', 'b() \n', '', 'no_match', {}],
    ['equal only if blanks inside lines do not count', 'if  x:\n  y\n', 'if x:\n  y\n', 'w', 'no_match', {}],
    ['equal only in normal form', 'ﬁle one\n', 'file one', 'w', 'no_match', {}],
    ['replaced already', 'a\nB\nc\n', 'a\nb\nc', 'a\nB\nc', 'already_applied', {}],
    ['not there, while a short new_text is', 'for\nnext\n', 'zzz', 'o', 'no_match', {}],
    ['almost there, and has new_text in it', 'call one\ncall two\n', 'call one\ncall too', 'call one', 'no_match', {}],
    ['replaced already, in a long line', 'call(one, two)\n', 'call(one)', 'call(one, two)', 'already_applied', {}],
    ['the same as new_text', 'a\n', 'a', 'a', 'bad_request', undefined],
    ['short and not there as it is', 'ab\n', '\nab\n\n\n', '\nac\n', 'no_match', {}],
  ])('refuses old_text that is %s', (_, text, oldText, newText, code, details) => {
    const replaced = replaceText(text, { oldText, newText })
    expect(replaced).toMatchObject({
      ok: false,
      fault: { code, ...(details && Object.keys(details).length > 0 && { details }) },
    })
  })

  it('says where a short new_text is, as after the same edit', () => {
    expect(replaceText('alpha\nBETA\n', { oldText: 'beta', newText: 'BETA' })).toMatchObject({
      fault: {
        code: 'no_match',
        message: 'old_text is not found, but new_text is at line 2: the edit may be done already; read the file again',
      },
    })
  })

  it('shows the nearest lines and makes blanks visible in the first difference', () => {
    const replaced = replaceText('a\nif x:\n\tgo()\n', { oldText: 'if x:\n    go()', newText: 'z' })
    expect(replaced).toMatchObject({
      fault: {
        message:
          'old_text is not found. The nearest place is line 2:\n2\tif x:\n3\t\tgo()\nThe first difference is at line 3:\n  file:    →go()\n  request: ····go()',
      },
    })
  })

  it('replaces every passage if asked to, in lines and across them', () => {
    const all = (text: string, oldText: string, newText: string) => {
      const replaced = replaceText(text, { oldText, newText, all: true })
      if (replaced.ok) expect(applySplices(text, replaced.value.splices)).toBe(replaced.value.text)
      return replaced.ok ? [replaced.value.text, replaced.value.count] : replaced
    }
    expect(all('a b a\nc\na\n', 'a', 'x')).toEqual(['x b x\nc\nx\n', 3])
    expect(all('aaaa', 'aa', 'b')).toEqual(['bb', 2])
    expect(all('a\nb\na\nb\n', 'a\n', 'a')).toEqual(['ab\nab\n', 2])
    expect(all('x \ny\nx  \ny\n', 'x\ny\n', 'z\n')).toEqual(['z\nz\n', 2])
  })

  it('replaces only a unique occurrence, at that place', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 12 })
    fc.assert(
      fc.property(
        word,
        word.filter((one) => one !== ''),
        word,
        (text, oldText, newText) => {
          fc.pre(oldText !== newText)
          const starts = [...text].flatMap((_, at) => (text.startsWith(oldText, at) ? [at] : []))
          const replaced = replaceText(text, { oldText, newText })
          const [at = 0] = starts
          if (starts.length > 0) expect(replaced.ok).toBe(starts.length === 1)
          if (!replaced.ok) return
          expect(applySplices(text, replaced.value.splices)).toBe(replaced.value.text)
          if (starts.length === 1)
            expect(replaced.value.text).toBe(text.slice(0, at) + newText + text.slice(at + oldText.length))
        },
      ),
    )
  })

  it('changes only lines of the block, and keeps the ends of the others', () => {
    const line = fc.constantFrom('a', 'a ', '  a', 'b', '“b”', '"b"', '', '  ')
    const part = fc.array(line, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 10 }),
        part,
        part,
        (file, old, next) => {
          const text = file.flat().join('')
          const replaced = replaceText(text, { oldText: old.join('\n'), newText: next.join('\n') })
          if (!replaced.ok) return
          expect(applySplices(text, replaced.value.splices)).toBe(replaced.value.text)
          for (const { removed } of replaced.value.splices) {
            expect(removed.length).toBeLessThanOrEqual(old.length + 1)
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it.each([
    ['an overlapping passage', 'a'.repeat(200_000), 'a'.repeat(50_000)],
    ['overlapping lines', 'a \n'.repeat(30_000), 'a\n'.repeat(10_000)],
    ['overlapping lines with another indent', ' a\n'.repeat(30_000), 'a\n'.repeat(10_000)],
    ['lines of which the last has another indent', ' a\n'.repeat(30_000), `${'a\n'.repeat(10_000)}  a\n`],
    ['many blank lines', '\n'.repeat(90_000), `${'\n'.repeat(30_000)}x y z a b c d`],
    ['repeated lines that are not there', 'a\n'.repeat(30_000), `b\n${'a\n'.repeat(15_000)}`],
  ])('takes linear time for %s', (_, text, oldText) => {
    expect(replaceText(text, { oldText, newText: 'z' })).toMatchObject({ ok: false })
  })

  it.each([
    ['more places than one edit may change', 'a'.repeat(200_000), 'a', 'bb'],
    ['a result that is larger than a file may be', 'a'.repeat(90_000), 'a', 'b'.repeat(900_000)],
    ['line ends that make the result too large', `${'a\r\n'.repeat(90_000)}`, 'a', '\n'.repeat(100)],
    ['more lines than one edit may change', 'a \n'.repeat(200_000), 'a\n', 'b\n'],
    ['lines whose result is too large', 'a \n'.repeat(90_000), 'a\n', `${'b'.repeat(900_000)}\n`],
    [
      'an indent that makes the result too large',
      `${' '.repeat(1000)}one\n${' '.repeat(1000)}two\n`,
      'one\ntwo\n',
      `one\n${'x\n'.repeat(20_000)}two\n`,
    ],
  ])('refuses %s before it is built', (_, text, oldText, newText) => {
    expect(replaceText(text, { oldText, newText, all: true })).toMatchObject({ fault: { code: 'too_large' } })
  })

  it('joins very many lines into one', () => {
    const text = `x${'\n'.repeat(90_000)}`
    expect(replaceText(text, { oldText: '\n', newText: '', all: true })).toMatchObject({ value: { text: 'x' } })
  })
})

/** Returns the longest text that was searched by a method of strings, which may take quadratic time for a long one. */
function longestSearched(run: () => unknown): number {
  const spies = (['includes', 'indexOf'] as const).map((name) => vi.spyOn(String.prototype, name))
  try {
    run()
    return Math.max(0, ...spies.flatMap(({ mock }) => mock.calls.map(([searched]) => searched.length)))
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

it.each([
  [
    'repeats a character',
    (length: number) => [`b${'a'.repeat(2 * length)}`, `${'a'.repeat(length)}b${'a'.repeat(length)}`],
  ],
  ['has blanks around it', (length: number) => [`b${'a'.repeat(2 * length)}`, ` ${'a'.repeat(length)}c\n`]],
])('searches no long text in another in quadratic time if nothing fits and the new text %s', (_, textsOf) => {
  for (const length of [4000, 8000]) {
    const [oldText = '', newText = ''] = textsOf(length)
    const edit = () => replaceText('x\n'.repeat(100), { oldText, newText })
    expect(edit()).toMatchObject({ fault: { code: 'no_match' } })
    expect(longestSearched(edit)).toBeLessThanOrEqual(200)
  }
})
