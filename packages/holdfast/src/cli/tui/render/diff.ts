import { diffCounts, diffLines } from '@holdfast/protocol'
import { line, type StyledLine, shownText, span, styles } from '../term/lines.ts'
import { breakText, continuedMark } from '../term/wrap.ts'

const lineStyles = {
  file: styles.dim,
  hunk: styles.accent,
  added: styles.good,
  removed: styles.bad,
  same: styles.none,
  note: styles.dim,
} as const

/** Returns the rows of a unified diff with line numbers. It ends soon after `rowsMax` rows. */
export function diffRows(diff: string, width: number, rowsMax = Number.POSITIVE_INFINITY): readonly StyledLine[] {
  const lines = diffLines(diff).filter(({ kind }) => kind !== 'file')
  const digits = String(Math.max(1, ...lines.map(({ before, after }) => Math.max(before ?? 0, after ?? 0)))).length
  const room = Math.max(10, width - digits - 1)
  const rows: StyledLine[] = []
  for (const { kind, text, before, after } of lines) {
    if (rows.length > rowsMax) break
    const number = kind === 'removed' ? before : after
    const shown = shownText(text)
    const [sign = ''] = /^[-+ @\\]/.exec(shown) ?? []
    for (const [index, part] of breakText(shown.slice(sign.length), room - 1).entries()) {
      const mark = index === 0 ? `${number ?? ''}` : continuedMark
      const body = index === 0 ? `${sign}${part}` : ` ${part}`
      rows.push([span(`${mark.padStart(digits)} `, styles.dim), ...line(body, lineStyles[kind])])
    }
  }
  return rows
}

/** Returns how many lines a diff adds and removes, as `+3 -1`. */
export function diffCountLine(diff: string): StyledLine {
  const { added, removed } = diffCounts(diffLines(diff))
  return [span(`+${added}`, styles.good), span(' '), span(`-${removed}`, styles.bad)]
}
