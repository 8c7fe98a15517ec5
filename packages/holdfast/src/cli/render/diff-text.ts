import { diffLines } from '@holdfast/protocol'
import { escapeHidden } from '@holdfast/protocol/hostile-text'
import type { Paint } from '../terminal/output.ts'
import { cellWidth } from '../tui/term/cell-width.ts'
import { breakText, continuedMark } from '../tui/term/wrap.ts'

/**
 * Formats a diff for a terminal: added lines green, removed ones red, everything that is not of the file dim. For a file or a
 * pipe, `keepsLineEnds` keeps the CR of line ends, so that other programs can apply the diff. With `columns` a longer line is
 * broken here and its rest is marked: where the terminal breaks it, the rest could pass for a line of the diff.
 */
export const diffText = (diff: string, paint: Paint, { keepsLineEnds = false, columns = null }: Options = {}): string =>
  diffLines(diff)
    .map(({ kind, text }) => {
      const isKept = keepsLineEnds && text.endsWith('\r')
      const shown = isKept ? `${escapeHidden(text.slice(0, -1))}\r` : escapeHidden(text)
      const rows = columns === null ? [shown] : brokenLine(shown, columns)
      if (kind === 'same') return rows.join('\n')
      const style = kind === 'added' ? paint.green : kind === 'removed' ? paint.red : paint.dim
      return rows.map(style).join('\n')
    })
    .join('\n')

type Options = { readonly keepsLineEnds?: boolean; readonly columns?: number | null }

/** A tab becomes spaces, as in the terminal UI: how wide it is depends on where it is. */
function brokenLine(shown: string, columns: number): readonly string[] {
  const text = shown.replaceAll('\t', '    ')
  const [first = '', ...rest] = breakText(text, Math.max(10, columns - continuedMark.length - 1))
  return cellWidth(text) <= columns ? [text] : [first, ...rest.map((part) => `${continuedMark} ${part}`)]
}
