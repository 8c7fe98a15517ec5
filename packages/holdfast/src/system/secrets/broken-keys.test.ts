import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBrokenKeySearch } from './broken-keys.ts'

const forms = ['sk-0123456789-abcdef', 'abababababababababab']
const checkOf =
  (keys: readonly string[]) =>
  (text: string): boolean => {
    const found = [...createBrokenKeySearch(keys).find(Buffer.from(text, 'latin1'))]
    for (const { form, parts } of found) expect(parts.map(({ from, to }) => text.slice(from, to)).join('')).toBe(form)
    return found.length > 0
  }
const check = checkOf(forms)

/** The text without breaks, as a search in it would see it. */
const joined = (text: string) => text.replace(/\r?\n[ \t]{0,32}/g, '')

it('finds a key that is broken at any places', () => {
  const breaks = fc.constantFrom('', '', '\n', '\r\n', '\n  ', '\n\t', '\n\n', '\n \r\n ')
  fc.assert(
    fc.property(fc.constantFrom(...forms), fc.array(breaks, { minLength: 20, maxLength: 20 }), (form, gaps) => {
      const broken = Array.from(form, (char, index) => (index === 0 ? char : `${gaps[index] ?? ''}${char}`)).join('')
      fc.pre(broken.includes('\n'))
      expect(check(`one\n${broken}\ntwo`)).toBe(true)
      expect(check(broken)).toBe(true)
    }),
  )
})

it('says no to no text in which a search without the breaks finds a key', () => {
  const piece = fc.constantFrom('ab', 'a', 'b', 'sk-0123', '456789-abc', 'def', '\n', '\r\n', ' ', '\n ', 'x')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join('')
      const isBroken = forms.some((form) => joined(text).includes(form) && !text.includes(form))
      if (isBroken) expect(check(text)).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

it('passes text without a broken key, also one that has a whole key', () => {
  expect(check('one\ntwo\nsk-0123456789-abcde\nf0 is no key')).toBe(true) // it is: the break is left out
  expect(check('one\ntwo\nsk-0123456789-abcd\ng')).toBe(false)
  expect(check('sk-0123456789-abcdef\nand more\n')).toBe(false)
  expect(check('a\nb'.repeat(5))).toBe(false)
  expect(checkOf([])('a\nb')).toBe(false)
})

it('finds a key with blanks in it', () => {
  const checkBlanks = checkOf(['a key with blanks in it'])
  for (const text of ['a key\n with blanks in it', 'a key \nwith blanks in it', 'a key\n   with\n blanks in it'])
    expect(checkBlanks(text), JSON.stringify(text)).toBe(true)
  expect(checkBlanks('a\nb')).toBe(false)
})

describe('a key in lines with a prefix', () => {
  const halves = ['x = sk-01234', '56789', '-abcdef;']

  it.each([
    ['numbers', (line: string, at: number) => `${at + 9}\t${line}`],
    ['aligned numbers', (line: string, at: number) => `${String(at).padStart(6)}  ${line}`],
    ['lines that a search has found', (line: string, at: number) => `${at}:${line}`],
    ['lines beside them', (line: string, at: number) => `${at}-${line}`],
    ['paths', (line: string, at: number) => `src/some folder/a-file.ts:${at}:${line}`],
    ['an addition', (line: string) => `+${line}`],
    ['a removal', (line: string) => `-${line}`],
    ['context', (line: string) => ` ${line}`],
    ['a quote', (line: string) => `> ${line}`],
    ['the log of containers', (line: string) => `web-1  | ${line}`],
    ['a diff with numbers', (line: string, at: number) => `${at}\t+ ${line}`],
  ])('is found: %s', (_, prefixed) => {
    expect(check(['one', ...halves, 'two'].map(prefixed).join('\n'))).toBe(true)
    expect(check(['one', halves[0] ?? '', '', halves[1] ?? '', halves[2] ?? ''].map(prefixed).join('\r\n'))).toBe(true)
  })

  it('is found on both sides of a diff, whatever the other side has between', () => {
    const [one = '', two = '', three = ''] = halves
    expect(check(`-${one}\n+${'new\n+'.repeat(50)}\n ${two}\n-old\n ${three}\n`)).toBe(true)
    expect(check(` ${one}\n-old\n-old\n+${two}\n+${three}\n`)).toBe(true)
    expect(check(`-${one}\n-old\n-${two}${three}\n`)).toBe(false)
    expect(check(`+${one}\n+new\n+${two}${three}\n`)).toBe(false)
  })

  it('is found with any prefixes', () => {
    const prefix = fc.stringMatching(/^[ -~]{0,40}[\t :|>+-]$/)
    fc.assert(
      fc.property(fc.constantFrom(...forms), fc.array(prefix, { minLength: 1, maxLength: 6 }), (form, prefixes) => {
        const size = Math.ceil(form.length / (prefixes.length + 1))
        const parts = form.match(new RegExp(`.{1,${size}}`, 'g')) ?? []
        const text = parts.map((part, at) => `${prefixes[at] ?? ''}${part}`).join('\n')
        expect(check(`one\n${text}\ntwo`)).toBe(true)
      }),
    )
  })

  // With each way of going on tried again from each line, this would not end.
  it('takes linear time, also if it repeats itself', () => {
    const repeating = checkOf(['+'.repeat(64), 'ab'.repeat(40)])
    expect(repeating(`${'\n+-+'.repeat(100)}\n`)).toBe(true)
    expect(repeating(`${'a\n:a:b:a\nb '.repeat(20_000)}x`)).toBe(false)
  })
})

it('tells how much of the end may be a key that goes on after a break', () => {
  const begun = (text: string, min = 1) => createBrokenKeySearch(forms).begun(Buffer.from(text, 'latin1'), () => min)
  for (const end of ['\n', '\r', ' \r\n', '\n12\t', '\n+', '\n+sk-', '\nsrc/file.ts:1', '\n\n'])
    expect(begun(`one\nsk-0123${end}`), JSON.stringify(end)).toBe(7 + end.length)
  expect(begun('one\nsk-0123\n12\t456')).toBe(14)
  expect(begun('one\nsk-0123\n12\t456', 11)).toBe(0)
  expect(begun('one\nsk-0123\nno prefix\n')).toBe(0)
  expect(begun(`one\nsk-0123\n${'x'.repeat(300)}`)).toBe(0)
})
