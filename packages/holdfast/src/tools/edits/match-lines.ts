import { limits } from '@holdfast/protocol'
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

type BlockHits = {
  readonly tier: Tier
  /** How many places there are at or behind the line that the search begins at. */
  readonly count: number
  /** The first of them, at most `limits.editPlacesMax`. */
  readonly hits: readonly BlockHit[]
}

type LineTier = Exclude<Tier, 'escapes'>
const lineTiers = ['exact', 'trailing blanks', 'typography', 'indent'] as const satisfies readonly LineTier[]

/** Finds blocks of whole lines in a text. */
export type BlockFinder = {
  /**
   * Finds a block. Stops at the first tier with a hit in the whole text: a looser one could only add more. Lists and counts
   * the hits from a line on.
   */
  find(block: readonly string[], from?: number): BlockHits
}

/**
 * Prepares to find blocks that are made of the given lines. The lines of the text are read once for each tier, whatever
 * the number of blocks. A search takes linear time in the number of lines.
 */
export function createBlockFinder(lines: Lines, blockLines: Iterable<string>): BlockFinder {
  const known = new Set(blockLines)
  const numbered = new Map<LineTier, NumberedLines>()
  const numbersIn = (tier: LineTier): NumberedLines => {
    const before = numbered.get(tier)
    if (before) return before
    const made = numberLines(lines, known, keys[tier])
    numbered.set(tier, made)
    return made
  }
  return {
    find(block, from = 0) {
      if (block.every((line) => line.trim() === '') || block.length > lines.count) return noHits
      for (const tier of lineTiers) {
        const found = createHits(from)
        const scan = (add: (line: number) => void) => scanBlock(numbersIn(tier), block, keys[tier], add)
        if (tier === 'indent') findShifted(lines, block, scan, found.add)
        else scan((line) => found.add({ line }))
        if (found.isAny()) return { tier, count: found.count(), hits: found.hits }
      }
      return noHits
    },
  }
}

/** Finds one block. */
export const findBlock = (lines: Lines, block: readonly string[]): BlockHits =>
  createBlockFinder(lines, block).find(block)

const noHits: BlockHits = { tier: 'exact', count: 0, hits: [] }

/** Collects hits. Only the first are kept, because there may be millions. */
function createHits(from: number) {
  const hits: BlockHit[] = []
  let [count, anywhere] = [0, 0]
  return {
    hits,
    count: () => count,
    isAny: () => anywhere > 0,
    add(hit: BlockHit): void {
      anywhere++
      if (hit.line < from) return
      count++
      if (hits.length < limits.editPlacesMax) hits.push(hit)
    },
  }
}

/** What is compared of a line in each tier. */
const keys = {
  exact: (line: string) => line,
  'trailing blanks': (line: string) => line.trimEnd(),
  typography: (line: string) => foldTypography(line.trimEnd()),
  indent: (line: string) => line.trim(),
} as const satisfies Record<LineTier, unknown>

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

/** The lines of a text as numbers: equal keys have equal numbers, and 0 is a line that is in no block. */
type NumberedLines = { readonly numbers: ReadonlyMap<string, number>; readonly text: LineNumbers }
type LineNumbers = Uint8Array | Uint16Array | Int32Array

function numberLines(lines: Lines, known: ReadonlySet<string>, key: (line: string) => string): NumberedLines {
  const numbers = new Map<string, number>()
  for (const line of known) if (!numbers.has(key(line))) numbers.set(key(line), numbers.size + 1)
  const text = createNumbers(numbers.size, lines.count)
  const absent = new Set(numbers.values())
  for (let line = 0; line < lines.count; line++) {
    const number = numbers.get(key(bodyOf(lines, line))) ?? 0
    text[line] = number
    if (absent.size > 0) absent.delete(number)
  }
  for (const [line, number] of numbers) if (absent.has(number)) numbers.delete(line)
  return { numbers, text }
}

/** Takes the smallest numbers that suffice: there may be millions of lines. */
function createNumbers(max: number, count: number): LineNumbers {
  if (max < 2 ** 8) return new Uint8Array(count)
  return max < 2 ** 16 ? new Uint16Array(count) : new Int32Array(count)
}

/** Calls `found` for every place where the keys of the lines are those of the block. */
function scanBlock(
  { numbers, text }: NumberedLines,
  block: readonly string[],
  key: (line: string) => string,
  found: (line: number) => void,
): void {
  const passage = Int32Array.from(block, (line) => numbers.get(key(line)) ?? -1)
  if (passage.includes(-1)) return // the text has no such line
  scanPassages(characters(text), characters(passage), found)
}

const characters = (numbers: LineNumbers) => ({
  length: numbers.length,
  charCodeAt: (index: number) => numbers[index] ?? -1,
})

/**
 * Finds a block that is indented as a whole by one fixed string, more or less than in the text. A single line proves
 * nothing about its indent, so at least two lines must have text.
 */
function findShifted(
  lines: Lines,
  block: readonly string[],
  scan: (found: (line: number) => void) => void,
  add: (hit: BlockHit) => void,
): void {
  if (block.filter((line) => line.trim() !== '').length < 2) return
  let work = 4 * (lines.count + block.length) // candidates may overlap: without a bound, comparing them is quadratic
  scan((line) => {
    const indent = work > 0 ? findIndent(lines, line, block) : null
    work -= block.length
    if (work <= 0) {
      add({ line }) // twice, so that it is ambiguous: nothing is applied
      add({ line })
    } else if (indent !== null) add({ line, indent })
  })
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
