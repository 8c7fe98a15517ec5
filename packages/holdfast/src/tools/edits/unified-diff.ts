import { escapeLine } from '@holdfast/protocol'
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff'

/** Equal lines that are shown before and after a change. */
export const contextLines = 3
const lineFeed = 10
const blockChars = 64 * 1024
/** Beyond this many changed lines, or lines to compare, we do not search for the shortest diff. */
const changedLinesMax = 400
const comparedLinesMax = 5000

export type Change = {
  readonly path: string
  /** The path before, if the file was moved. */
  readonly from?: string | undefined
  /** How many lines of the file are before these texts: of a long file, only the lines around a change are compared. */
  readonly firstLine?: number | undefined
  /** Null when there is no such file yet. */
  readonly before: string | null
  /** Null when the file is removed. */
  readonly after: string | null
}

/**
 * Returns the change as a unified diff, in linear time and memory. Only the lines between the first and the last
 * difference are compared; if they are many, all of them are shown as replaced.
 */
export function unifiedDiff({ path, from: old = path, firstLine = 0, before: found, after: wanted }: Change): string {
  // A line feed in a name must not forge a line of the diff.
  const from = found === null ? '/dev/null' : `a/${escapeLine(old)}`
  const to = wanted === null ? '/dev/null' : `b/${escapeLine(path)}`
  const [before, after] = [found ?? '', wanted ?? '']
  const names = { oldFileName: from, newFileName: to, oldHeader: undefined, newHeader: undefined }
  if (before === after) return formatPatch({ ...names, hunks: [] }, FILE_HEADERS_ONLY)
  const changed = changedLines(before, after, firstLine)
  const hunks = comparedHunks(changed)
  if (hunks !== null) return formatPatch({ ...names, hunks }, FILE_HEADERS_ONLY)
  return `${formatPatch({ ...names, hunks: [] }, FILE_HEADERS_ONLY)}${replacedHunk(changed)}`
}

/** The lines that differ, with the equal lines around them. */
type ChangedLines = {
  /** The number of the first line of `leading`. */
  readonly line: number
  readonly leading: string
  readonly removed: string
  readonly added: string
  readonly trailing: string
}

function changedLines(before: string, after: string, firstLine: number): ChangedLines {
  const start = lineStart(before, commonStart(before, after))
  const end = commonEnd(before, after, start)
  const leadingStart = linesBack(before, start, contextLines)
  const trailingEnd = linesOn(before, before.length - end, contextLines)
  return {
    line: 1 + firstLine + countFeeds(before, leadingStart),
    leading: before.slice(leadingStart, start),
    removed: before.slice(start, before.length - end),
    added: after.slice(start, after.length - end),
    trailing: before.slice(before.length - end, trailingEnd),
  }
}

/** Returns the hunks of the shortest diff; null if the search would take too long. */
function comparedHunks({ line, leading, removed, added, trailing }: ChangedLines) {
  if (removed === '' || added === '') return null // nothing to compare
  if (countFeeds(removed) > comparedLinesMax || countFeeds(added) > comparedLinesMax) return null
  const [before, after] = [`${leading}${removed}${trailing}`, `${leading}${added}${trailing}`]
  const options = { context: contextLines, maxEditLength: changedLinesMax }
  const patch = structuredPatch('', '', before, after, undefined, undefined, options)
  const moved = (start: number) => start + line - 1
  return (
    patch?.hunks.map((hunk) => ({ ...hunk, oldStart: moved(hunk.oldStart), newStart: moved(hunk.newStart) })) ?? null
  )
}

/** Returns a hunk that removes all old lines and adds all new ones. Not made of an array of lines, which may be millions. */
function replacedHunk({ line, leading, removed, added, trailing }: ChangedLines): string {
  const equal = countLines(leading) + countLines(trailing)
  const [oldLines, newLines] = [equal + countLines(removed), equal + countLines(added)]
  const start = (lines: number) => (lines === 0 ? line - 1 : line) // as the format demands
  const head = `@@ -${start(oldLines)},${oldLines} +${start(newLines)},${newLines} @@\n`
  return `${head}${marked(' ', leading)}${marked('-', removed)}${marked('+', added)}${marked(' ', trailing)}`
}

/** Puts a mark before each line. Works on bytes: `replaceAll` needs much more time and memory for millions of lines. */
function marked(mark: ' ' | '-' | '+', lines: string): string {
  if (lines === '') return ''
  const from = Buffer.from(lines)
  const to = Buffer.allocUnsafe(from.length + countLines(lines))
  let end = 0
  for (let at = 0; at < from.length; at++) {
    if (at === 0 || from[at - 1] === lineFeed) to[end++] = mark.charCodeAt(0)
    to[end++] = from[at] ?? 0
  }
  return `${to.toString()}${lines.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`
}

/** Returns how many characters both texts begin with. */
function commonStart(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  let at = 0
  // Whole blocks are compared much faster than characters.
  while (at + blockChars <= length && one.slice(at, at + blockChars) === other.slice(at, at + blockChars))
    at += blockChars
  while (at < length && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return at
}

/** Returns the length of the whole lines that both texts end with, not counting the first `start` characters. */
function commonEnd(one: string, other: string, start: number): number {
  const length = Math.min(one.length, other.length) - start
  let end = 0
  const block = (text: string) => text.slice(text.length - end - blockChars, text.length - end)
  while (end + blockChars <= length && block(one) === block(other)) end += blockChars
  while (end < length && one.charCodeAt(one.length - 1 - end) === other.charCodeAt(other.length - 1 - end)) end++
  if (isLineStart(one, one.length - end) && isLineStart(other, other.length - end)) return end
  const feed = one.indexOf('\n', one.length - end)
  return feed === -1 ? 0 : one.length - feed - 1
}

const isLineStart = (text: string, at: number) => at === 0 || text[at - 1] === '\n'

const lineStart = (text: string, at: number) => (at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1)

/** Returns the start of the line that is up to `lines` lines before the one that starts at `at`. */
function linesBack(text: string, at: number, lines: number): number {
  let start = at
  for (let line = 0; line < lines && start > 0; line++) start = lineStart(text, start - 1)
  return start
}

/** Returns the end of the line that is up to `lines` lines after `at`. */
function linesOn(text: string, at: number, lines: number): number {
  let end = at
  for (let line = 0; line < lines && end < text.length; line++) {
    const feed = text.indexOf('\n', end)
    end = feed === -1 ? text.length : feed + 1
  }
  return end
}

function countFeeds(text: string, end = text.length): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count++
  return count
}

const countLines = (text: string) => countFeeds(text) + (text === '' || text.endsWith('\n') ? 0 : 1)
