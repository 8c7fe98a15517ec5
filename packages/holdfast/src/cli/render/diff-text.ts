import { diffLines } from '@holdfast/protocol'
import { escapeHidden } from '@holdfast/protocol/hostile-text'
import type { Paint } from '../terminal/output.ts'

/**
 * Formats a diff for a terminal: added lines green, removed ones red, everything that is not of the file dim. For a file or a
 * pipe, `keepsLineEnds` keeps the CR of line ends, so that other programs can apply the diff.
 */
export const diffText = (diff: string, paint: Paint, { keepsLineEnds = false } = {}): string =>
  diffLines(diff)
    .map(({ kind, text }) => {
      const isKept = keepsLineEnds && text.endsWith('\r')
      const shown = isKept ? `${escapeHidden(text.slice(0, -1))}\r` : escapeHidden(text)
      if (kind === 'same') return shown
      if (kind === 'added') return paint.green(shown)
      return kind === 'removed' ? paint.red(shown) : paint.dim(shown)
    })
    .join('\n')
