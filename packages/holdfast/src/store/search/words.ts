import { clip } from '@holdfast/protocol/text-of'

/**
 * The words of a text for the index, separated by spaces. `text` has every word, in order. `parts` has the parts of each
 * compound name (`getUserName`, `user_name`), with a mark before each name.
 */
export type Words = { readonly text: string; readonly parts: string }

/** Longer words are keys and checksums: their beginning is enough. */
const wordCharsMax = 64

/** Separates two names, so that no phrase matches across them. No word contains this character. */
const partMark = ':'

// Patterns with Unicode classes are made on first use: V8 needs milliseconds for each, in every thread that opens a store.

// Scripts without spaces between words: each character is a word, and a sequence of them is a phrase.
const unspaced = () =>
  /[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]&&[\p{L}\p{N}\p{M}]]/v
let wordPattern: RegExp | null = null
const getWordPattern = (): RegExp => {
  wordPattern ??= new RegExp(`${unspaced().source}|[[\\p{L}\\p{N}\\p{M}_]--${unspaced().source}]+`, 'gv')
  return wordPattern
}
const asciiWordPattern = /[A-Za-z0-9_]+/g
const isAscii = /^[\0-\x7f]*$/
const hasLetter = /[^_]/
const isCompound = (word: string): boolean => /_|[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u.test(word)
const seam = () => /_+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u

/** Removes differences of case, accents, width and ligatures. Folds each character on its own, whatever its context. */
export function normalizeText(text: string): string {
  if (isAscii.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKC')
    .replace(/[^\0-\x7f]+/g, (run) => (unspaced().test(run) ? foldEach(run) : foldRun(run)))
    .toLowerCase()
    .replaceAll('ς', 'σ')
}

const foldRun = (run: string): string => run.normalize('NFKD').replace(/[\u0300-\u036f]+/g, '')

/** In scripts such as Kana a mark is part of the letter: without it, が would be か. */
const foldEach = (run: string): string =>
  Array.from(run, (char) => (unspaced().test(char) ? char : foldRun(char))).join('')

/** Returns the words of a text as written, in order. */
export function splitWords(text: string): readonly string[] {
  const words = isAscii.test(text) ? text.match(asciiWordPattern) : text.normalize('NFKC').match(getWordPattern())
  return words?.filter((word) => !word.startsWith('_') || hasLetter.test(word)) ?? []
}

/** Returns a word in the form in which it is stored and searched. */
export const foldWord = (word: string): string => clip(normalizeText(word), wordCharsMax)

/** Returns the parts of a compound name, or null for a plain word. */
export function partsOf(word: string): readonly string[] | null {
  if (!isCompound(word)) return null
  const parts = word.split(seam()).filter((part) => part !== '')
  return parts.length > 1 || parts[0] !== word ? parts.map(foldWord) : null
}

export const isUnspaced = (word: string): boolean => unspaced().test(word)

export function wordsOf(text: string): Words {
  const foldEvery = isAscii.test(text) ? foldAscii : foldWord
  const words: string[] = []
  const names = new Set<string>()
  for (const word of splitWords(text)) {
    const folded = foldEvery(word)
    words.push(folded)
    // Most words are lower case; this check is cheaper than the pattern.
    if ((folded !== word || word.includes('_')) && isCompound(word)) names.add(word)
  }
  const parts = [...names].flatMap((name) => [partMark, ...(partsOf(name) ?? [])])
  return { text: words.join(' '), parts: parts.join(' ') }
}

const foldAscii = (word: string): string => clip(word.toLowerCase(), wordCharsMax)
