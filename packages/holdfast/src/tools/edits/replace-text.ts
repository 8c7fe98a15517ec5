import { fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { diffArrays } from 'diff'
import { changeBlock, createGrowths, type LineChange } from './change-block.ts'
import { findDisjoint, findPassages, holdsPassage, type Passages } from './find-passage.ts'
import { bodies, endOf, type Lines, lineAt, splitLines, splitThrough, startOf } from './lines.ts'
import { findBlock, type Tier } from './match-lines.ts'
import {
  alreadyApplied,
  ambiguous,
  isTelling,
  noMatch,
  placesNamedMax,
  refuseTooLong,
  tooManyPlaces,
} from './refusal.ts'
import { type Splice, type SplicedText, spliceAll, wholeLines } from './splice.ts'

/** Replaces the only passage of a text; every one, if `all`. */
export type Replacement = { readonly oldText: string; readonly newText: string; readonly all?: boolean | undefined }

/** A changed text, and how exactly the passage was found. */
export type Replaced = SplicedText & { readonly tier: Tier; readonly count: number }

/**
 * Replaces a passage. It is searched in ever looser tiers; the first with a hit decides, and only a single hit is
 * replaced. Looser tiers only find: what is not part of the change keeps its bytes.
 */
export function replaceText(text: string, { oldText, newText, all = false }: Replacement): Result<Replaced> {
  if (oldText === newText)
    return refuse(fault('bad_request', 'old_text and new_text are the same: nothing would change'))
  const exact = findPassages(text, oldText, placesNamedMax)
  if (exact.count === 1) {
    // Only the lines up to the passage matter, and the next ones: its block may run into them.
    const lines = splitThrough(text, (exact.starts[0] ?? 0) + oldText.length, linesAfterPassage)
    return replaceFound({ lines, passage: oldText, found: exact }, lines, { oldText, newText, all })
  }
  const lines = splitLines(text)
  const found =
    replaceExactly(lines, oldText, newText, all, exact) ??
    replaceBlocks(lines, oldText, newText, all) ??
    replaceCleaned(lines, oldText, newText)
  if (found !== null) return found
  const isDone = isTelling(newText, oldText) && findExact(lines, newText).found.count > 0
  if (isDone) return refuse(alreadyApplied('this edit'))
  return refuse(noMatch(lines, 'old_text', bodies(oldText), newTextHint(lines, oldText, newText)))
}

/** Says where the new text is, if it is there: too short to be sure that the edit is done, but likely. */
function newTextHint(lines: Lines, oldText: string, newText: string): string {
  if (newText.trim() === '' || holdsPassage(oldText, newText)) return ''
  const { lines: searched, found } = findExact(lines, newText)
  const [start] = found.starts
  if (start === undefined) return ''
  return `, but new_text is at line ${lineAt(searched, start) + 1}: the edit may be done already`
}

/** Where a passage is found character by character; an end of a line may be written as `\n` or as `\r\n`. */
type ExactHits = { readonly lines: Lines; readonly passage: string; readonly found: Passages }

function findExact(
  lines: Lines,
  passage: string,
  found = findPassages(lines.text, passage, placesNamedMax),
): ExactHits {
  const isFolded = lines.returns > 0 || passage.includes('\r')
  if (found.count > 0 || !isFolded) return { lines, passage, found }
  const plain = splitLines(lines.text.replaceAll('\r\n', '\n'))
  const plainPassage = passage.replaceAll('\r\n', '\n')
  return { lines: plain, passage: plainPassage, found: findPassages(plain.text, plainPassage, placesNamedMax) }
}

type Range = { readonly from: number; readonly to: number }

/** Lines after a passage that its change may reach: the one that its block runs into, and where the next one begins. */
const linesAfterPassage = 3

function replaceExactly(
  lines: Lines,
  oldText: string,
  newText: string,
  all: boolean,
  exact?: Passages,
): Result<Replaced> | null {
  const hits = findExact(lines, oldText, exact)
  return hits.found.count === 0 ? null : replaceFound(hits, lines, { oldText, newText, all })
}

/** Replaces what was found. `lines` are those of the text itself. */
function replaceFound(
  { lines: searched, passage, found }: ExactHits,
  lines: Lines,
  { oldText, newText, all }: Replacement,
): Result<Replaced> {
  if (found.count > 1 && !all) {
    const places = found.starts.map((start) => lineAt(searched, start) + 1)
    return refuse(ambiguous('old_text', places, found.count, orReplaceAll))
  }
  const chosen =
    found.count === 1 ? Int32Array.from(found.starts) : findDisjoint(searched.text, passage, limits.editPlacesMax)
  if (chosen === null) return refuse(tooManyPlaces('old_text'))
  // Each line feed of the new text may become two characters.
  const growth = newText.length + splitLines(newText).feeds - passage.length
  const tooLong = refuseTooLong(lines.text.length + chosen.length * growth)
  if (tooLong !== null) return refuse(tooLong)
  const ranges = Array.from(chosen, (from): Range => {
    const range = { from, to: from + passage.length }
    return searched === lines ? range : unfold(range, searched, lines)
  })
  // A request that spells the ends out means them; else a line feed stands for the end that the text has there.
  const isLiteral = oldText.includes('\r\n') && searched === lines
  const parts = toParts(lines, ranges, { newText, isLiteral })
  return ok({ ...spliceAll(lines, parts), tier: 'exact', count: chosen.length })
}

const orReplaceAll = ', or set replace_all to replace every one'

/** Turns a range of the text with plain ends into one of the text itself. */
function unfold({ from, to }: Range, plain: Lines, lines: Lines): Range {
  const place = (offset: number) => {
    const line = lineAt(plain, offset)
    return startOf(lines, line) + Math.min(offset - startOf(plain, line), bodyLength(lines, line))
  }
  const isAtLineStart = to === plain.text.length || startOf(plain, lineAt(plain, to)) === to
  if (to === plain.text.length) return { from: place(from), to: lines.text.length }
  return { from: place(from), to: isAtLineStart ? startOf(lines, lineAt(plain, to)) : place(to) }
}

const bodyLength = (lines: Lines, line: number) =>
  startOf(lines, line + 1) - startOf(lines, line) - endOf(lines, line).length

type NewText = { readonly newText: string; readonly isLiteral: boolean }

/** Turns ranges of characters into the lines that they change. Ranges of one line are one part. */
function toParts(lines: Lines, ranges: readonly Range[], { newText, isLiteral }: NewText): readonly Splice[] {
  const parts: Splice[] = []
  const { text } = lines
  for (let index = 0; index < ranges.length; ) {
    const first = lineAt(lines, ranges[index]?.from ?? 0)
    let [last, next, tail] = [first, startOf(lines, first), '']
    const pieces: string[] = []
    let lastPiece = '' // that is not empty
    const add = (piece: string) => {
      pieces.push(piece)
      if (piece !== '') lastPiece = piece
    }
    for (let isOpen = true; isOpen; ) {
      for (let range = ranges[index]; range && lineAt(lines, range.from) <= last; range = ranges[++index]) {
        const line = lineAt(lines, range.from)
        add(text.slice(next, range.from))
        add(isLiteral ? newText : withEndsOf(lines, line, newText))
        next = range.to
        last = Math.max(last, lineAt(lines, Math.max(range.from, range.to - 1)))
      }
      tail = text.slice(next, startOf(lines, last + 1))
      const end = tail === '' ? lastPiece : tail
      // Without an end of its own, the block runs into the next line.
      isOpen = end !== '' && !end.endsWith('\n') && last + 1 < lines.count
      if (isOpen) last++
    }
    const removed = wholeLines(text.slice(startOf(lines, first), startOf(lines, last + 1)))
    parts.push({ line: first, removed, added: wholeLines(pieces.join('') + tail) })
  }
  return parts
}

/** Gives the lines of a new text the end that the text has at a line. */
function withEndsOf(lines: Lines, line: number, newText: string): string {
  if (!newText.includes('\n')) return newText
  const own = lines.count === 0 ? '' : endOf(lines, line)
  const end = own === '' && line > 0 ? endOf(lines, line - 1) : own
  return end === '\r\n' ? newText.replace(/\r?\n/g, '\r\n') : newText
}

function replaceBlocks(lines: Lines, oldText: string, newText: string, all: boolean): Result<Replaced> | null {
  const old = bodies(oldText)
  const { tier, count, hits } = findBlock(lines, old)
  if (count === 0) return null
  const places = hits.slice(0, placesNamedMax).map(({ line }) => line + 1)
  if (count > 1 && !all) return refuse(ambiguous('old_text', places, count, orReplaceAll))
  if (count > hits.length) return refuse(tooManyPlaces('old_text'))
  const changes = lineChanges(old, oldText.endsWith('\n') ? bodies(newText) : newLines(newText))
  const growths = createGrowths(changes)
  const parts: Splice[] = []
  let [end, chars] = [0, lines.text.length]
  for (const hit of hits) {
    if (hit.line < end) continue
    chars += growths.at(hit)
    const tooLong = refuseTooLong(chars)
    if (tooLong !== null) return refuse(tooLong)
    const changed = changeBlock(lines, hit, changes, tier)
    if (changed === null) return null
    for (const part of changed) parts.push(part)
    end = hit.line + old.length
  }
  return ok({ ...spliceAll(lines, parts), tier, count })
}

/** Returns the lines of a new text whose old text has no line feed at its end. */
const newLines = (text: string): readonly string[] => text.split('\n').map((line) => line.replace(/\r$/, ''))

/** Compares the lines of the old and the new text, so that lines in both keep their bytes. */
function lineChanges(old: readonly string[], next: readonly string[]): readonly LineChange[] {
  const compared = diffArrays([...old], [...next], { maxEditLength: comparedMax })
  if (!compared)
    return [
      ...old.map((text) => ({ type: 'remove', text }) as const),
      ...next.map((text) => ({ type: 'add', text }) as const),
    ]
  return compared.flatMap(({ value, added, removed }) =>
    value.map((text): LineChange => ({ type: added ? 'add' : removed ? 'remove' : 'keep', text })),
  )
}

const comparedMax = 400
const cleanedCharsMin = 10

/** Tries again without what models add by mistake: escapes typed as text, and blank lines around old_text. */
function replaceCleaned(lines: Lines, oldText: string, newText: string): Result<Replaced> | null {
  const tries = [
    [unescaped(oldText), unescaped(newText)],
    [withoutBlankLines(oldText), sharedBlankLines(oldText, newText)],
  ] as const
  for (const [old, next] of tries) {
    if (old === oldText || old.trim().length < cleanedCharsMin || old === next) continue
    const found = replaceExactly(lines, old, next, false) ?? replaceBlocks(lines, old, next, false)
    if (found !== null) return found.ok ? ok({ ...found.value, tier: 'escapes' }) : found
  }
  return null
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '"': '"',
  "'": "'",
  '`': '`',
  '\\': '\\',
}

const unescaped = (text: string): string =>
  text.replace(/\\([ntr"'`\\])/g, (_, character: string) => escapes[character] ?? '')

/** Removes blank lines before and after a text. */
function withoutBlankLines(text: string, { head = true, tail = true } = {}): string {
  const lines = text.split('\n')
  let [from, to] = [0, lines.length]
  while (head && from < to && lines[from]?.trim() === '') from++
  while (tail && to > from && lines[to - 1]?.trim() === '') to--
  return lines.slice(from, to).join('\n')
}

/** Removes blank lines around the new text if the old text has them too. */
function sharedBlankLines(oldText: string, newText: string): string {
  const lines = oldText.split('\n')
  return withoutBlankLines(newText, { head: lines[0]?.trim() === '', tail: lines.at(-1)?.trim() === '' })
}
