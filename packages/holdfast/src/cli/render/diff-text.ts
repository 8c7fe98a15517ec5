import { diffLines } from '@holdfast/protocol'
import { escapeHidden } from '@holdfast/protocol/hostile-text'
import type { Paint } from '../terminal/output.ts'

/** Formats a diff for a terminal: added lines green, removed ones red, everything that is not of the file dim. */
export const diffText = (diff: string, paint: Paint): string =>
  diffLines(diff)
    .map(({ kind, text }) => {
      const shown = escapeHidden(text)
      if (kind === 'same') return shown
      if (kind === 'added') return paint.green(shown)
      return kind === 'removed' ? paint.red(shown) : paint.dim(shown)
    })
    .join('\n')
