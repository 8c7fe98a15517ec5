import { scanPassages } from './find-passage.ts'
import { bodyOf, type Lines } from './lines.ts'

/** How exactly a passage was found. Each tier ignores a little more than the one before; none guesses. */
export type Tier = 'exact' | 'trailing blanks' | 'typography' | 'indent' | 'escapes'

/** A block of lines of the text that a passage stands for. */
export type BlockHit = {
  /** The first line, from 0. */
  readonly line: number
  /** What the lines of the text have before those of the passage; of the passage, if `isLess`. */
  readonly indent?: Indent | undefined
}

export type Indent = { readonly blanks: string; readonly isLess: boolean }

type BlockHits = { readonly tier: Tier; readonly hits: readonly BlockHit[] }

const lineTiers = ['exact', 'trailing blanks', 'typography', 'indent'] as const

/**
 * Finds a block of whole lines. Stops at the first tier with a hit: a looser one could only add more. Takes linear time
 * in the lengths of text and block. `from` is the first tier to try.
 */
export function findBlock(lines: Lines, block: readonly string[], from: (typeof lineTiers)[number] = 'exact') {
  if (block.every((line) => line.trim() === '') || block.length > lines.count) return noHits
  for (const tier of lineTiers.slice(lineTiers.indexOf(from))) {
    const hits = tier === 'indent' ? findShifted(lines, block) : findEqual(lines, block, keys[tier])
    if (hits.length > 0) return { tier, hits }
  }
  return noHits
}

const noHits: BlockHits = { tier: 'exact', hits: [] }

/** What is compared of a line in each tier. */
const keys = {
  exact: (line: string) => line,
  'trailing blanks': (line: string) => line.trimEnd(),
  typography: (line: string) => foldTypography(line.trimEnd()),
} as const

const odd = '\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2010\u2011\u2012\u2013\u2014\u2015\u2212'
const plain = '\'\'\'\'""""-------'
const folded = new Map([...odd].map((character, index) => [character, plain[index] ?? character]))
const typographic = /[\u2018-\u201f\u2010-\u2015\u2212\u00a0\u2002-\u200a\u202f\u205f\u3000]/g

/**
 * Replaces typographic quotes, dashes and spaces by the plain ones, character by character: offsets stay the same. Other
 * characters that look alike stay different (no NFKC).
 */
export const foldTypography = (text: string): string =>
  text.replace(typographic, (character) => folded.get(character) ?? ' ')

function findEqual(lines: Lines, block: readonly string[], key: (line: string) => string): readonly BlockHit[] {
  const hits: BlockHit[] = []
  scanBlock(lines, block, key, (line) => hits.push({ line }))
  return hits
}

/** Calls `found` for every place where the keys of the lines are those of the block. */
function scanBlock(
  lines: Lines,
  block: readonly string[],
  key: (line: string) => string,
  found: (line: number) => void,
): void {
  const numbers = new Map<string, number>()
  const number = (line: string) => {
    const known = numbers.get(key(line))
    if (known !== undefined) return known
    numbers.set(key(line), numbers.size + 1)
    return numbers.size
  }
  const passage = Int32Array.from(block, number)
  const text = new Int32Array(lines.count)
  for (let line = 0; line < lines.count; line++) text[line] = numbers.get(key(bodyOf(lines, line))) ?? 0
  scanPassages(characters(text), characters(passage), found)
}

const characters = (numbers: Int32Array) => ({
  length: numbers.length,
  charCodeAt: (index: number) => numbers[index] ?? -1,
})

/**
 * Finds a block that is indented as a whole by one fixed string, more or less than in the text. A single line proves
 * nothing about its indent, so at least two lines must have text.
 */
function findShifted(lines: Lines, block: readonly string[]): readonly BlockHit[] {
  if (block.filter((line) => line.trim() !== '').length < 2) return []
  const hits: BlockHit[] = []
  let work = 4 * (lines.count + block.length) // candidates may overlap: without a bound, comparing them is quadratic
  scanBlock(
    lines,
    block,
    (line) => line.trim(),
    (line) => {
      const indent = work > 0 ? findIndent(lines, line, block) : null
      work -= block.length
      if (work <= 0)
        hits.push({ line }, { line }) // ambiguous: nothing is applied
      else if (indent !== null) hits.push({ line, indent })
    },
  )
  return hits
}

function findIndent(lines: Lines, at: number, block: readonly string[]): Indent | null {
  let indent: Indent | null = null
  for (const [index, wanted] of block.entries()) {
    if (wanted.trim() === '') continue
    const found = differenceOf(bodyOf(lines, at + index).trimEnd(), wanted.trimEnd())
    if (found === null) return null
    if (indent !== null && (found.blanks !== indent.blanks || found.isLess !== indent.isLess)) return null
    indent = found
  }
  return indent
}

/** Returns what one of two lines has before the other. A tab is not some blanks. */
function differenceOf(line: string, wanted: string): Indent | null {
  const isLess = line.length < wanted.length
  const [long, short] = isLess ? [wanted, line] : [line, wanted]
  const blanks = long.slice(0, long.length - short.length)
  return long.endsWith(short) && blanks.trim() === '' ? { blanks, isLess } : null
}

/** Indents a new line as the text is; null if it has not the indent that the block has too much. */
export function reindent(line: string, indent: Indent | undefined): string | null {
  if (indent === undefined || line.trim() === '') return line
  if (!indent.isLess) return indent.blanks + line
  return line.startsWith(indent.blanks) ? line.slice(indent.blanks.length) : null
}
