import { escapeLine } from '@holdfast/protocol'
import { createTwoFilesPatch, FILE_HEADERS_ONLY, formatPatch } from 'diff'

const context = 3
/** Beyond this many changed lines we do not search for the shortest diff: it would block the event loop. */
const changedLinesMax = 400

export type Change = {
  readonly path: string
  /** Null when there is no such file yet. */
  readonly before: string | null
  readonly after: string
}

/** Returns the change as a unified diff. */
export function unifiedDiff({ path, before, after }: Change): string {
  const shown = escapeLine(path) // a line feed in a name must not forge a line of the diff
  const from = before === null ? '/dev/null' : `a/${shown}`
  const to = `b/${shown}`
  const patch =
    before === null || before === '' || after === ''
      ? undefined // nothing to match, and the library would count every line as a step
      : createTwoFilesPatch(from, to, before, after, undefined, undefined, {
          headerOptions: FILE_HEADERS_ONLY,
          context,
          maxEditLength: changedLinesMax,
        })
  return patch ?? replacedWhole(from, to, before ?? '', after)
}

/** Returns a diff that removes the whole old text and adds the new. */
function replacedWhole(oldFileName: string, newFileName: string, before: string, after: string): string {
  const [removed, added] = [linesOf(before), linesOf(after)]
  const lines = [...marked('-', removed), ...marked('+', added)]
  const hunk = { oldStart: 1, oldLines: removed.length, newStart: 1, newLines: added.length, lines }
  const hunks = lines.length === 0 ? [] : [hunk]
  return formatPatch({ oldFileName, newFileName, oldHeader: undefined, newHeader: undefined, hunks }, FILE_HEADERS_ONLY)
}

/** Splits text into lines with their line feeds. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

const marked = (mark: '-' | '+', lines: readonly string[]) =>
  lines.flatMap((line) =>
    line.endsWith('\n') ? [`${mark}${line.slice(0, -1)}`] : [`${mark}${line}`, '\\ No newline at end of file'],
  )
