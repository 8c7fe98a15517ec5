import { type CommandInput, type ListedBoundary, linesText, type SessionHandle } from '@holdfast/protocol'
import { boundaryCommand, boundaryUsage } from '../../sessions/boundary-command.ts'
import { emptyLine, line, type StyledLine, shownLine, shownText, span, styles } from '../term/lines.ts'
import { wrapText } from '../term/wrap.ts'
import type { FullView, ViewHost } from './full-view.ts'
import { createTextView } from './text-view.ts'

/** Lists the edit boundaries: the files, and the lines that tools may change. */
export const createBoundariesView = (boundaries: readonly ListedBoundary[], host: ViewHost): FullView =>
  createTextView({ title: () => 'Edit boundaries', rows: (width) => boundaryRows(boundaries, width) }, host)

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
    ...wrapText(boundaryUsage, width, styles.dim),
  ]
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
