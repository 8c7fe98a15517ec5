import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { LineChange } from './change-block.ts'

export type Hunk = {
  /** The text after `@@`: the line of the file that the hunk is below, if it names one. */
  readonly section: string
  readonly changes: readonly LineChange[]
}

export type FileDiff = {
  /** The names in the headers, without `a/` and `b/`; null for /dev/null, absent without headers. */
  readonly names: readonly (string | null)[]
  readonly hunks: readonly Hunk[]
  /** Whether the diff says of its last new line that it has no line feed. */
  readonly isUnended: boolean
}

/**
 * Parses a unified diff as models write it: with text or a fence around it, without headers or hunk headers, with wrong
 * numbers, and with context lines that lost their blank. Line numbers and counts are ignored.
 */
export function parseDiff(diff: string): Result<FileDiff> {
  const lines = withoutFence(diff.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)))
  const names: (string | null)[] = []
  const hunks: Hunk[] = []
  const firstMark = lines.findIndex((line, index) => line.startsWith('@@') || isFileHeader(lines, index))
  let body: string[] = []
  let section = ''
  let isMarked = false // inside a hunk, only a hunk header makes file headers of such lines
  let isInHunk = firstMark === -1 // without any header, all is one hunk
  let isUnended = false
  const close = () => {
    const changes = toChanges(body)
    if (changes.some(({ type }) => type !== 'keep')) hunks.push({ section, changes })
    body = []
    section = ''
  }
  for (let index = Math.max(0, firstMark); index < lines.length; index++) {
    const line = lines[index] ?? ''
    const isHeader = isFileHeader(lines, index) && (!isMarked || lines[index + 2]?.startsWith('@@') === true)
    if (isHeader) {
      close()
      isMarked = false
      names.push(nameOf(line), nameOf(lines[++index] ?? ''))
      isInHunk = true // the hunk header may be missing
    } else if (line.startsWith('@@')) {
      close()
      section = sectionOf(line)
      isInHunk = true
      isMarked = true
    } else if (/^diff --git /.test(line) && !/^[-+ ]/.test(lines[index + 1] ?? ' ')) {
      close()
      isInHunk = false
    } else if (isInHunk && noFeed.test(line)) isUnended = body.at(-1)?.startsWith('-') === false
    else if (isInHunk) body.push(line)
  }
  close()
  if (hunks.length === 0) return refuse(fault('bad_request', nothing))
  return ok({ names, hunks, isUnended })
}

/** `\ No newline at end of file`, in any language. A line of the file may begin with a backslash too. */
const noFeed = /^\\ \S/

const nothing =
  'diff has no line to add or remove. Write a unified diff: lines to remove begin with -, lines to add with +, and unchanged lines around them with a blank'

/** Takes the inside of a Markdown fence that begins before the diff does. */
function withoutFence(lines: readonly string[]): readonly string[] {
  const isFence = (line: string) => /^\s{0,3}(?:```|~~~)/.test(line)
  const open = lines.findIndex(isFence)
  const mark = lines.findIndex((line, index) => line.startsWith('@@') || isFileHeader(lines, index))
  if (open === -1 || (mark !== -1 && mark < open)) return lines
  const end = lines.findLastIndex((line, index) => index > open && /^\s{0,3}(?:```|~~~)\s*$/.test(line))
  return lines.slice(open + 1, end === -1 ? undefined : end)
}

/** Whether two lines are the names of the old and the new file. `--- q` may also be a removed line `-- q`. */
const isFileHeader = (lines: readonly string[], index: number): boolean =>
  /^--- \S/.test(lines[index] ?? '') && /^\+\+\+ \S/.test(lines[index + 1] ?? '')

function nameOf(header: string): string | null {
  const name = header.slice(4).split('\t')[0]?.trim() ?? ''
  if (name === '/dev/null') return null
  const unquoted = /^".*"$/.test(name) ? name.slice(1, -1) : name
  return unquoted.replace(/^[ab]\//, '')
}

/** Returns the text of a hunk header behind its numbers. */
function sectionOf(header: string): string {
  const numbered = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@(.*)$/.exec(header)
  const text = (numbered?.[1] ?? header.slice(2)).trim()
  const section = text.endsWith('@@') ? text.slice(0, -2).trim() : text
  return /^(?:[-+\d,\s.…]*)$/.test(section) ? '' : section
}

function toChanges(body: readonly string[]): readonly LineChange[] {
  // A blank line at the end belongs to the text around the diff, not to the file.
  const end = body.findLastIndex((line) => line !== '') + 1
  return body.slice(0, end).map((line): LineChange => {
    if (line.startsWith('+')) return { type: 'add', text: line.slice(1) }
    if (line.startsWith('-')) return { type: 'remove', text: line.slice(1) }
    return { type: 'keep', text: line.startsWith(' ') ? line.slice(1) : line }
  })
}
