import type { Paint } from './output.ts'

/** Rows under a head, in columns as wide as they need to be. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[], paint: Paint): string {
  const widths = head.map((name, column) =>
    rows.reduce((widest, row) => Math.max(widest, lengthOf(row[column] ?? '')), name.length),
  )
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => padded(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [paint.dim(line(head)), ...rows.map(line), ''].join('\n')
}

// Nearly all text is plain, and a list may have thousands of lines.
const lengthOf = (text: string): number => (/[\ud800-\udfff]/.test(text) ? [...text].length : text.length)
const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - lengthOf(text)))
