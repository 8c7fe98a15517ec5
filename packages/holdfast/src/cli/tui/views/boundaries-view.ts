import { type CommandInput, type ListedBoundary, linesText, type SessionHandle } from '@holdfast/protocol'
import { parseLines } from '../../sessions/line-range.ts'
import { emptyLine, line, type StyledLine, shownLine, shownText, span, styles } from '../term/lines.ts'
import { wrapText } from '../term/wrap.ts'
import type { FullView, ViewHost } from './full-view.ts'
import { createTextView } from './text-view.ts'

/** Shows which lines of which files tools may change. */
export const createBoundariesView = (boundaries: readonly ListedBoundary[], host: ViewHost): FullView =>
  createTextView({ title: () => 'Edit boundaries', rows: (width) => boundaryRows(boundaries, width) }, host)

const usage =
  '/boundaries <file> <lines> sets one, such as /boundaries a.ts 3-9. /boundaries clear [<file>] removes it.'

export function boundaryRows(boundaries: readonly ListedBoundary[], width: number): readonly StyledLine[] {
  const rows = boundaries.flatMap(({ path, suspended, ...range }): readonly StyledLine[] => [
    [
      span(suspended === undefined ? linesText(range) : 'nothing', suspended === undefined ? styles.good : styles.bad),
      span(' of ', styles.dim),
      span(shownLine(path)),
    ],
    ...(suspended === undefined ? [] : wrapText(shownText(suspended), width, styles.warn)),
  ])
  return [
    ...(rows.length === 0
      ? [line('The session has no edit boundaries: tools may change every line.', styles.dim)]
      : [line('Tools may change only these lines of these files:', styles.bold), ...rows]),
    emptyLine,
    ...wrapText(usage, width, styles.dim),
  ]
}

/** Returns the command that `/boundaries` with these words stands for; a sentence if it stands for none. */
export function boundaryCommand(given: string): CommandInput | string {
  const [, path = ''] = /^clear(?:\s+(.+))?$/.exec(given) ?? []
  if (/^clear(?:\s|$)/.test(given))
    return path === '' ? { type: 'clearAllBoundaries' } : { type: 'clearBoundary', path }
  const [, file = '', lines = ''] = /^(.+?)\s+(\S+)$/.exec(given) ?? []
  const range = parseLines(lines)
  return range === null ? usage : { type: 'setBoundary', path: file, ...range }
}

/** Opens the list, after a command that was given with it. */
export async function showBoundaries(
  handle: Pick<SessionHandle, 'boundaries'>,
  given: string,
  submit: (command: CommandInput) => Promise<{ readonly ok: boolean } | null>,
  host: ViewHost,
): Promise<void> {
  const command = given === '' ? null : boundaryCommand(given)
  if (typeof command === 'string') return host.notice(command, true)
  if (command !== null && (await submit(command))?.ok !== true) return
  const found = await handle.boundaries()
  if (!found.ok) return host.notice(found.fault.message, true)
  host.open(createBoundariesView(found.value, host))
}
