import { escapeLine, type Fault, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { changeBlock, createGrowths, type LineChange } from './change-block.ts'
import { isElision, isOnlyDots } from './elision.ts'
import { bodyOf, type Lines, splitLines } from './lines.ts'
import { type BlockFinder, type BlockHit, createBlockFinder, type Tier } from './match-lines.ts'
import { type FileDiff, type Hunk, parseDiff } from './parse-diff.ts'
import {
  alreadyApplied,
  ambiguous,
  isTelling,
  noMatch,
  placesNamedMax,
  refuseTooLong,
  tellingCharsMin,
} from './refusal.ts'
import { type Splice, type SplicedText, spliceAll, wholeLines } from './splice.ts'

/** A patched text. `notes` say which hunks were not found exactly. */
export type Patched = SplicedText & { readonly notes: readonly string[] }

type DiffTarget = {
  /** The path that the diff is for. */
  readonly path: string
  /** Null if there is no such file yet. */
  readonly text: string | null
}

/**
 * Applies a unified diff, all hunks or none. Each hunk is found by its lines alone and must fit in one place. Up to two
 * stale lines of context at its ends are ignored, but never a line to remove.
 */
export function applyDiff({ path, text }: DiffTarget, diff: string): Result<Patched> {
  const parsed = parseDiff(diff)
  if (!parsed.ok) return parsed
  const { hunks } = parsed.value
  const wrong = findOtherFile(parsed.value, path)
  if (wrong !== null) return refuse(wrong)
  if (parsed.value.names[1] === null)
    return refuse(fault('bad_request', `the diff deletes ${escapeLine(path)}: use delete_file. Nothing was changed.`))
  if (text === null && parsed.value.names[0] !== null)
    return refuse(
      fault('not_found', `${escapeLine(path)} does not exist. To create it, use write_file, or a diff from /dev/null.`),
    )
  const lines = splitLines(text ?? '')
  const tooMuch = refuseTooMuch(lines, hunks)
  if (tooMuch !== null) return refuse(tooMuch)
  const placed = lines.count === 0 ? fillEmpty(parsed.value) : placeAll(lines, hunks)
  if (!placed.ok) return placed
  const spliced = spliceAll(lines, placed.value.parts)
  if (spliced.splices.length === 0) return refuse(fault('bad_request', 'the diff changes nothing'))
  return ok({ ...spliced, notes: placed.value.notes })
}

/** Every hunk, and every piece of it between two gaps, is searched in all lines. */
function refuseTooMuch({ count }: Lines, hunks: readonly Hunk[]): Fault | null {
  const pieces = hunks.reduce((sum, { changes }) => sum + 1 + changes.filter(isGap).length, 0)
  if (pieces === 1 || pieces * count <= limits.diffLinesSearchedMax) return null
  const message = `the diff has ${pieces} hunks for a file of ${count} lines; send fewer hunks at a time`
  return fault('too_large', message, { hunks: pieces, lines: count, linesSearchedMax: limits.diffLinesSearchedMax })
}

function findOtherFile({ names }: FileDiff, path: string): Fault | null {
  const own = path.replace(/^(?:\.\/)+/, '')
  const isOwn = (name: string) => name === own || name.endsWith(`/${own}`) || own.endsWith(`/${name}`)
  // The old and the new name of one file may be in two folders; a second file is never this one, though its name may end like it.
  const files = new Set(names.flatMap((name, index) => (index % 2 === 1 ? [name ?? names[index - 1]] : [])))
  const second = [...files].find((name) => files.size > 1 && name !== own)
  const other = names.find((name) => name !== null && !isOwn(name)) ?? second
  if (other === undefined || other === null) return null
  return fault(
    'other_file',
    `the diff is for ${escapeLine(other)}, not for ${escapeLine(path)}. Call apply_diff once for each file.`,
  )
}

type Placed = { readonly parts: readonly Splice[]; readonly notes: readonly string[] }

/** An empty file has no context: all new lines go into it. */
function fillEmpty({ hunks, isUnended }: FileDiff): Result<Placed> {
  const changes = hunks.flatMap((hunk) => hunk.changes)
  const old = changes.find(({ type }) => type === 'remove')
  if (old) return refuse(fault('no_match', `the file is empty, so it has no line ${JSON.stringify(old.text)}`))
  const added = changes.filter(({ type }) => type === 'add').map(({ text }) => `${text}\n`)
  const text = isUnended ? added.join('').replace(/\n$/, '') : added.join('')
  return ok({ parts: [{ line: 0, removed: wholeLines(''), added: wholeLines(text) }], notes: [] })
}

function placeAll(lines: Lines, hunks: readonly Hunk[]): Result<Placed> {
  const parts: Splice[] = []
  const notes: string[] = []
  let from = 0
  let previous: Search['previous'] = null
  const finder = createBlockFinder(lines, textsOf(hunks))
  let chars = lines.text.length
  for (const [index, hunk] of hunks.entries()) {
    const name = hunks.length === 1 ? 'the hunk' : `hunk ${index + 1} of ${hunks.length}`
    const elided = findElided(lines, hunk)
    if (elided !== null)
      return refuse(fault('elided', `${name} adds the line ${JSON.stringify(elided)}: write out every line to add`))
    const placed = placeHunk({ lines, finder, from, name, previous, chars }, hunk)
    if (!placed.ok) return placed
    for (const part of placed.value.parts) parts.push(part)
    notes.push(...placed.value.notes)
    from = placed.value.end
    previous = { name: `hunk ${index + 1}`, line: placed.value.parts[0]?.line ?? from }
    chars = placed.value.chars
  }
  return ok({ parts, notes })
}

function* textsOf(hunks: readonly Hunk[]): Iterable<string> {
  for (const { changes } of hunks) for (const { text } of changes) yield text
}

/** Finds an added line that stands for others. A line that is in the file, or is removed, is a real one. */
function findElided(lines: Lines, { changes }: Hunk): string | null {
  const suspects = changes.filter(({ type, text }) => type === 'add' && (isElision(text) || isOnlyDots(text)))
  if (suspects.length === 0) return null
  const unknown = new Set(suspects.map(({ text }) => text.trim()))
  for (const { type, text } of changes) if (type !== 'add') unknown.delete(text.trim())
  for (let line = 0; line < lines.count && unknown.size > 0; line++) {
    const body = bodyOf(lines, line)
    if (body.length < 200) unknown.delete(body.trim())
  }
  return suspects.find(({ text }) => unknown.has(text.trim()))?.text ?? null
}

type Search = {
  readonly lines: Lines
  readonly finder: BlockFinder
  readonly from: number
  readonly name: string
  /** The hunk before, and the first line that it changes. */
  readonly previous: { readonly name: string; readonly line: number } | null
  /** How long the text is with all hunks before. */
  readonly chars: number
}
type PlacedHunk = Placed & { readonly end: number; readonly chars: number }

/** Places a hunk. If it is not found and has lines of dots, these stand for any lines. */
function placeHunk(search: Search, hunk: Hunk): Result<PlacedHunk> {
  const whole = placeChanges(search, hunk.changes, hunk.section)
  if (whole.ok || !hunk.changes.some(isGap) || whole.fault.code === 'ambiguous') return whole
  const parts: Splice[] = []
  const notes: string[] = []
  let { from, chars } = search
  for (const changes of splitAtGaps(hunk.changes)) {
    if (changes.every(({ type }) => type === 'keep')) {
      if (search.finder.find(oldLines(changes), from).count === 0)
        return refuse(noMatch(search.lines, search.name, oldLines(changes)))
      continue
    }
    const placed = placeChanges({ ...search, from, previous: null, chars }, changes, hunk.section)
    if (!placed.ok) return placed
    for (const part of placed.value.parts) parts.push(part)
    notes.push(...placed.value.notes)
    from = placed.value.end
    chars = placed.value.chars
  }
  return ok({ parts, notes, end: from, chars })
}

const isGap = ({ type, text }: LineChange) => type === 'keep' && (isOnlyDots(text) || isElision(text))

function splitAtGaps(changes: readonly LineChange[]): readonly (readonly LineChange[])[] {
  const groups: LineChange[][] = [[]]
  for (const change of changes) {
    if (isGap(change)) groups.push([])
    else groups.at(-1)?.push(change)
  }
  return groups.filter((group) => group.length > 0)
}

const oldLines = (changes: readonly LineChange[]): readonly string[] =>
  changes.flatMap(({ type, text }) => (type === 'add' ? [] : [text]))

/** How many lines of context to ignore before and after a hunk, grouped by their number, in the order in which it is tried. */
const staleContext = [
  [[0, 0]],
  [
    [1, 0],
    [0, 1],
  ],
  [
    [1, 1],
    [2, 0],
    [0, 2],
  ],
  [
    [2, 1],
    [1, 2],
  ],
  [[2, 2]],
] as const

function placeChanges(search: Search, changes: readonly LineChange[], section: string): Result<PlacedHunk> {
  const { lines, finder, from, name, previous } = search
  const block = oldLines(changes)
  const range = findSection(lines, section)
  if (block.every((line) => line.trim() === '') && !changes.some(({ type }) => type === 'remove'))
    return refuse(
      fault('no_context', `${name} only adds lines: include unchanged lines around them, so that it has a place`),
    )
  for (const ends of staleContext) {
    const variants = ends
      .map(([before, after]) => withoutContext(changes, before, after))
      .filter((kept) => kept !== null)
    const found = findFits(finder, variants, from)
    const all = found.count > 1 ? findFits(finder, variants, below(lines, from, section)) : found
    const isListed = all.fits.length === all.count
    const fits = all.fits.filter((fit) => isInSection(range, fit))
    if (fits.length === 0 && all.fits[0]) return refuse(otherSection(name, section, all.fits[0].line))
    const count = isListed ? fits.length : all.count
    const places = fits.slice(0, placesNamedMax).map(({ line }) => line + 1)
    if (count > 1) return refuse(ambiguous(name, places, count))
    for (const { kept, hit, tier } of fits) {
      const chars = search.chars + createGrowths(kept).at(hit)
      const tooLong = refuseTooLong(chars)
      if (tooLong !== null) return refuse(tooLong)
      const parts = changeBlock(lines, hit, kept, tier)
      const end = hit.line + oldLines(kept).length
      if (parts) return ok({ parts, notes: notesOf(name, tier, changes.length - kept.length), end, chars })
    }
  }
  const [earlier] = finder.find(block).hits
  if (previous && earlier && earlier.line < from) return refuse(wrongOrder(name, earlier.line, block.length, previous))
  const next = newLines(changes)
  const isDone = isTelling(next.join('\n'), block.join('\n')) && finder.find(next, from).count > 0
  return refuse(isDone ? alreadyApplied(name) : noMatch(lines, name, block))
}

/** A place of a hunk without some of its context. `line` is the first line that it changes. */
type Fit = { readonly kept: readonly LineChange[]; readonly hit: BlockHit; readonly tier: Tier; readonly line: number }

/**
 * Finds where a hunk fits without as many lines of context. Each variant leaves out others of them: if they name different
 * lines to change, none is better than the other. `count` is how many lines they name.
 */
function findFits(finder: BlockFinder, variants: readonly (readonly LineChange[])[], from: number) {
  const fits = new Map<number, Fit>()
  let most = 0
  for (const kept of variants) {
    const { tier, count, hits } = finder.find(oldLines(kept), from)
    const offset = kept.findIndex(({ type }) => type !== 'keep')
    most = Math.max(most, count)
    for (const hit of hits)
      if (!fits.has(hit.line + offset)) fits.set(hit.line + offset, { kept, hit, tier, line: hit.line + offset })
  }
  return {
    fits: [...fits.values()].sort((one, other) => one.line - other.line),
    count: Math.max(most, fits.size), // the finder may count more than it lists
  }
}

/** Refuses a hunk whose lines are only above the end of the hunk before it. */
function wrongOrder(name: string, line: number, count: number, previous: NonNullable<Search['previous']>): Fault {
  const place = `${name} fits at line ${line + 1}`
  const message =
    line + count <= previous.line
      ? `${place}, before ${previous.name}: give the hunks in file order`
      : `${place}, where it overlaps ${previous.name}: write the lines of both as one hunk`
  return fault('no_match', message, { line: line + 1 })
}

const newLines = (changes: readonly LineChange[]): readonly string[] =>
  changes.flatMap(({ type, text }) => (type === 'remove' ? [] : [text]))

/**
 * Leaves out context at the ends of a hunk. Returns null if there is not so much, or if what is left does not tell a place: it
 * must keep a line of context with text, or remove more than a bracket or a word.
 */
function withoutContext(changes: readonly LineChange[], before: number, after: number): readonly LineChange[] | null {
  const kept = changes.slice(before, changes.length - after)
  const left = [...changes.slice(0, before), ...changes.slice(changes.length - after)]
  if (left.some(({ type }) => type !== 'keep')) return null
  const hasText = (wanted: LineChange['type']) => kept.some(({ type, text }) => type === wanted && text.trim() !== '')
  if (left.length === 0) return hasText('keep') || hasText('remove') ? kept : null
  const removed = kept.filter(({ type }) => type === 'remove').reduce((sum, { text }) => sum + text.trim().length, 0)
  return hasText('keep') || removed >= tellingCharsMin ? kept : null
}

/** Returns the line that the hunk header names, if it names exactly one; else where the search began. */
const below = (lines: Lines, from: number, section: string): number =>
  Math.max(from, findSection(lines, section)?.start ?? from)

/** The lines of a section: from the one that a hunk header names to the next of its kind. */
type Section = { readonly start: number; readonly end: number }

/**
 * Finds the section that a hunk header names; null if it names none, or more than one. It ends where a line with the same
 * indent begins with the same word, as `def` does.
 */
function findSection(lines: Lines, section: string): Section | null {
  if (section === '') return null
  let start = -1
  let end = lines.count
  let opening = ''
  for (let line = 0; line < lines.count; line++) {
    const body = bodyOf(lines, line)
    if (body.trim() === section) {
      if (start >= 0) return null
      start = line
      opening = /^\s*\S+/.exec(body)?.[0] ?? ''
    } else if (start >= 0 && end === lines.count && isLike(body, opening)) end = line
  }
  return start < 0 ? null : { start, end }
}

const isLike = (body: string, opening: string): boolean =>
  body.startsWith(opening) && !/\S/.test(body.charAt(opening.length))

/** Whether a hunk begins in a section, or has the line that names it. */
const isInSection = (range: Section | null, { kept, hit: { line } }: Fit): boolean =>
  range === null || (line < range.end && line + oldLines(kept).length > range.start)

const otherSection = (name: string, section: string, line: number): Fault =>
  fault(
    'no_match',
    `${name} fits at line ${line + 1}, which is not in the section ${JSON.stringify(section)} that its header names. Name the right section, or none.`,
    { line: line + 1 },
  )

function notesOf(name: string, tier: Tier, stale: number): readonly string[] {
  const notes = [
    ...(tier === 'exact' ? [] : [`found by ignoring ${ignored[tier]}`]),
    ...(stale === 0 ? [] : [`found without ${stale} stale context ${stale === 1 ? 'line' : 'lines'}`]),
  ]
  return notes.length === 0 ? [] : [`${name} was ${notes.join(' and ')}`]
}

/** What each tier ignores, for people and models. */
export const ignored = {
  'trailing blanks': 'blanks at the ends of lines',
  typography: 'typographic quotes, dashes and spaces',
  indent: 'the indent of the whole block',
  escapes: 'escapes or blank lines around it',
} as const satisfies Record<Exclude<Tier, 'exact'>, string>
