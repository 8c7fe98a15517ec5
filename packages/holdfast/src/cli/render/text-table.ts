import type { Output } from '../terminal/output.ts'
import { charsOf, wrapWords } from './wrap-words.ts'

const gap = '  '
/** No column is made narrower than this to fit a terminal. */
const columnCharsMin = 12

/** Formats rows under a heading, in columns of equal width. At a terminal the widest columns wrap at words until all fit. */
export function textTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  { paint, columns }: Pick<Output, 'paint' | 'columns'>,
): string {
  const needed = heading.map((name, column) =>
    rows.reduce((widest, row) => Math.max(widest, charsOf(row[column] ?? '')), name.length),
  )
  const widths = columns === null ? needed : fit(needed, columns)
  return [paint.dim(lineOf(heading, widths)), ...rows.flatMap((row) => linesOf(row, widths)), ''].join('\n')
}

/** Narrows the widest columns, as little as needed. */
function fit(needed: readonly number[], columns: number): readonly number[] {
  const widths = [...needed]
  let over = widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1)) - columns
  while (over > 0) {
    const widest = Math.max(...widths)
    if (widest <= columnCharsMin) break
    const next = Math.max(columnCharsMin, ...widths.filter((width) => width < widest))
    const column = widths.indexOf(widest)
    const cut = Math.max(1, Math.min(over, widest - next))
    widths[column] = widest - cut
    over -= cut
  }
  return widths
}

/** Returns the lines of a row: its cells wrapped side by side. */
function linesOf(row: readonly string[], widths: readonly number[]): readonly string[] {
  if (row.every((cell, column) => charsOf(cell) <= (widths[column] ?? 0))) return [lineOf(row, widths)]
  const cells = row.map((cell, column) => wrapCell(cell, widths[column] ?? 0))
  const height = Math.max(...cells.map((lines) => lines.length))
  return Array.from({ length: height }, (_, line) =>
    lineOf(
      cells.map((lines) => lines[line] ?? ''),
      widths,
    ),
  )
}

/** Wraps at words, and within a word that is too long, such as a path. */
const wrapCell = (cell: string, width: number): readonly string[] =>
  wrapWords(cell, width).flatMap((line) => {
    if (charsOf(line) <= width) return [line]
    const characters = [...line]
    const pieces = Math.ceil(characters.length / width)
    return Array.from({ length: pieces }, (_, piece) => characters.slice(piece * width, (piece + 1) * width).join(''))
  })

const lineOf = (cells: readonly string[], widths: readonly number[]): string =>
  cells
    .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - charsOf(cell))))
    .join(gap)
    .trimEnd()
