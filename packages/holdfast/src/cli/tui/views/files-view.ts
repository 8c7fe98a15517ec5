import { isLeftByMove, type RestorePreview, type SessionHandle, type TouchedFile } from '@holdfast/protocol'
import { formatAge } from '../../render/tables.ts'
import { diffRows } from '../render/diff.ts'
import { emptyLine, justify, line, type StyledLine, shownLine, shownText, span, styles } from '../term/lines.ts'
import { wrapText } from '../term/wrap.ts'
import { type FullView, isKey, type ViewHost } from './full-view.ts'
import { createListView } from './list-view.ts'
import { createTextView } from './text-view.ts'

type FilesDeps = {
  readonly handle: SessionHandle
  readonly files: readonly TouchedFile[]
  readonly now: number
  /** What is said if there are none. */
  readonly empty: string
  readonly host: ViewHost
}

const actionStyles = {
  created: styles.good,
  modified: styles.warn,
  deleted: styles.bad,
  renamed: styles.accent,
} as const

/** Lists the files that the session changed, newest first. Enter shows the diff of one. */
export function createFilesView({ handle, files, now, empty, host }: FilesDeps): FullView {
  return createListView<TouchedFile>(
    {
      title: () => 'Changed files',
      items: () => files,
      row: ({ path, action, from, at, during }, width) =>
        justify(
          [
            span(`${action.padEnd(9)} `, actionStyles[action]),
            span(shownLine(path)),
            span(from === undefined ? '' : ` from ${shownLine(from)}`, styles.dim),
            span(during ? ' while a command ran in the background' : '', styles.dim),
          ],
          [span(formatAge(now - Date.parse(at)), styles.dim)],
          width,
        ),
      textOf: ({ path }) => path,
      onChoose: (file) => void openDiff(handle, file, host),
      hints: '↑↓ choose   Enter shows the diff   Esc back',
      empty,
    },
    host,
  )
}

async function openDiff(handle: SessionHandle, { path }: TouchedFile, host: ViewHost): Promise<void> {
  const found = await handle.diffChanges({ path })
  if (!found.ok) return host.notice(found.fault.message, true)
  const [file] = found.value.files
  const rows = (width: number): readonly StyledLine[] => [
    ...(file?.note === undefined ? [] : wrapText(shownText(file.note), width, styles.warn)),
    ...(file ? diffRows(file.diff, width) : [line('The file is as it was before the session.', styles.dim)]),
  ]
  host.open(createTextView({ title: () => shownLine(path), rows }, host))
}

const words = { restore: 'restored', recreate: 'created again', delete: 'deleted', none: 'stays as it is' } as const

const whatHappens = ({ action, movedFrom }: RestorePreview['files'][number]): string =>
  movedFrom === undefined ? words[action] : `moved back from ${shownLine(movedFrom)}`

/** Shows what a restore would change in files, and asks for a yes. */
export function createRestoreView(preview: RestorePreview, title: string, onYes: () => void, host: ViewHost): FullView {
  // A move is one file: its old path says where the file comes back from.
  const files = preview.files.filter((file) => !isLeftByMove(file))
  const count = files.filter(({ action }) => action !== 'none').length
  const put = count === 1 ? '1 file would be put back:' : `${count} files would be put back:`
  const rows = (width: number): readonly StyledLine[] => [
    line(count === 0 ? 'No files would change.' : put, styles.bold),
    ...files.flatMap((file) => [
      emptyLine,
      [span(shownLine(file.path), styles.bold), span(`  ${whatHappens(file)}`, styles.dim)],
      ...diffRows(file.diff, width),
    ]),
    ...preview.refused.flatMap(({ path, why }) => [
      emptyLine,
      ...wrapText(`${shownLine(path)} stays as it is: ${shownText(why)}`, width, styles.warn),
    ]),
  ]
  return createTextView(
    {
      title: () => title,
      rows,
      hints: 'y go back   n or Esc cancel   ↑↓ scroll',
      onKey(event) {
        if (isKey(event, 'n')) host.close()
        else if (isKey(event, 'y')) {
          host.close()
          onYes()
        } else return false
        return true
      },
    },
    host,
  )
}
