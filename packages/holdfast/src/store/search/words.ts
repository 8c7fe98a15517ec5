import { clip } from '@holdfast/protocol/text-of'

/**
 * What a text is found by, each a line of words with a space between. `text` has every word, in order; `parts` has
 * again, in pieces, each name that is made of several (`getUserName`, `user_name`), a mark before each such name.
 */
export type Words = { readonly text: string; readonly parts: string }

/** Longer ones are keys and checksums: their beginning tells them apart. */
const wordCharsMax = 64

/** Stands between two names, so that no phrase reaches from one into the next. No word has this character. */
export const partMark = ':'

// Scripts that put no space between words, or glue endings to them: each character is a word, a run of them a phrase.
const unspaced =
  /[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]&&[\p{L}\p{N}\p{M}]]/v
const wordPattern = new RegExp(`${unspaced.source}|[[\\p{L}\\p{N}\\p{M}_]--${unspaced.source}]+`, 'gv')
const asciiWordPattern = /[A-Za-z0-9_]+/g
const isAscii = /^[\0-\x7f]*$/
const hasLetter = /[^_]/
const isCompound = /_|[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u
const seam = /_+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u

/** As people compare words: without case, accents, width or ligatures. Each character by itself, wherever it stands. */
export function fold(text: string): string {
  if (isAscii.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKC')
    .replace(/[^\0-\x7f]+/g, (run) => (unspaced.test(run) ? foldEach(run) : foldRun(run)))
    .toLowerCase()
    .replaceAll('ς', 'σ')
}

const foldRun = (run: string): string => run.normalize('NFKD').replace(/[\u0300-\u036f]+/g, '')

/** Marks are part of the letter in scripts such as Kana: taken apart, が would be か. */
const foldEach = (run: string): string =>
  Array.from(run, (char) => (unspaced.test(char) ? char : foldRun(char))).join('')

/** The words of a text as it was written, in order. */
export function splitWords(text: string): readonly string[] {
  const words = isAscii.test(text) ? text.match(asciiWordPattern) : text.normalize('NFKC').match(wordPattern)
  return words?.filter((word) => !word.startsWith('_') || hasLetter.test(word)) ?? []
}

/** A word in the form it is kept and looked for in. */
export const foldWord = (word: string): string => clip(fold(word), wordCharsMax)

/** The pieces of a name that is made of several; null of a plain word. */
export function partsOf(word: string): readonly string[] | null {
  if (!isCompound.test(word)) return null
  const parts = word.split(seam).filter((part) => part !== '')
  return parts.length > 1 || parts[0] !== word ? parts.map(foldWord) : null
}

export const isUnspaced = (word: string): boolean => unspaced.test(word)

export function wordsOf(text: string): Words {
  const foldEvery = isAscii.test(text) ? foldAscii : foldWord
  const words: string[] = []
  const names = new Set<string>()
  for (const word of splitWords(text)) {
    const folded = foldEvery(word)
    words.push(folded)
    // Most words are in lower case, and a look at them is cheaper than the pattern.
    if ((folded !== word || word.includes('_')) && isCompound.test(word)) names.add(word)
  }
  const parts = [...names].flatMap((name) => [partMark, ...(partsOf(name) ?? [])])
  return { text: words.join(' '), parts: parts.join(' ') }
}

const foldAscii = (word: string): string => clip(word.toLowerCase(), wordCharsMax)
