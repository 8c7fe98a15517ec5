import type { Output } from '../terminal/output.ts'
import { cellWidth, cutCells } from '../tui/term/cell-width.ts'
import { wrapWords } from './wrap-words.ts'

const gap = '  '
/** Columns are made narrower to fit a terminal, first to the first of these, then to the next. */
const narrowest = [12, 8]

/** Formats rows under a heading, in columns of equal width. At a terminal the widest columns wrap at words until all fit. */
export function textTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  { paint, columns }: Pick<Output, 'paint' | 'columns'>,
): string {
  const needed = heading.map((name, column) =>
    rows.reduce((widest, row) => Math.max(widest, cellWidth(row[column] ?? '')), name.length),
  )
  const widths = columns === null ? needed : fit(needed, columns)
  return [paint.dim(lineOf(heading, widths)), ...rows.flatMap((row) => linesOf(row, widths)), ''].join('\n')
}

/** Narrows the widest columns, as little as needed. The first one, which names the row, comes last: people copy it. */
function fit(needed: readonly number[], columns: number): readonly number[] {
  const [first = 0, ...others] = needed
  let over = needed.reduce((sum, width) => sum + width, gap.length * (needed.length - 1)) - columns
  const narrow = (widths: readonly number[], least: number): readonly number[] => {
    const narrowed = [...widths]
    while (over > 0) {
      const widest = Math.max(...narrowed)
      if (widest <= least) break
      const next = Math.max(least, ...narrowed.filter((width) => width < widest))
      const cut = Math.max(1, Math.min(over, widest - next))
      narrowed[narrowed.indexOf(widest)] = widest - cut
      over -= cut
    }
    return narrowed
  }
  const rest = narrowest.reduce(narrow, others)
  return [...narrowest.reduce(narrow, [first]), ...rest]
}

/** Returns the lines of a row: its cells wrapped side by side. */
function linesOf(row: readonly string[], widths: readonly number[]): readonly string[] {
  if (row.every((cell, column) => cellWidth(cell) <= (widths[column] ?? 0))) return [lineOf(row, widths)]
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
    if (cellWidth(line) <= width) return [line]
    const pieces: string[] = []
    for (let rest = line; rest !== ''; ) {
      const piece = cutCells(rest, width) || rest.slice(0, 1)
      pieces.push(piece)
      rest = rest.slice(piece.length)
    }
    return pieces
  })

const lineOf = (cells: readonly string[], widths: readonly number[]): string =>
  cells
    .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - cellWidth(cell))))
    .join(gap)
    .trimEnd()
