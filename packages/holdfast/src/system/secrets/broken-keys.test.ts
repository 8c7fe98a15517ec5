import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createBreakCheck } from './broken-keys.ts'

const forms = ['sk-0123456789-abcdef', 'abababababababababab']
const checkOf = (keys: readonly string[]) => (text: string) => createBreakCheck(keys)(Buffer.from(text, 'latin1'))
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

it('lets each text with a line feed be searched if a key has blanks', () => {
  expect(checkOf(['a key with blanks in it'])('a\nb')).toBe(true)
})
