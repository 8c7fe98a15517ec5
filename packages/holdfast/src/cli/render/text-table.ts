import type { Output } from '../terminal/output.ts'
import { cellWidth, cutCells } from '../tui/term/cell-width.ts'
import { wrapParts, wrapWords } from './wrap-words.ts'

type TableOutput = Pick<Output, 'paint' | 'columns'>

const gap = '  '
/** A column keeps its longest word whole, if that has no more columns than this. A longer one is broken once at most. */
const wholeWordMax = 12

/**
 * Formats rows under a heading, in columns of equal width. At a terminal the widest columns wrap at words until all fit. In
 * a terminal that is too narrow for that, each row is a block of its own.
 */
export function textTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  { paint, columns }: TableOutput,
): string {
  const needed = heading.map((name, column) =>
    rows.reduce((widest, row) => Math.max(widest, cellWidth(row[column] ?? '')), name.length),
  )
  const widths = columns === null ? needed : fit(needed, leastWidths(heading, rows, columns), columns)
  if (widths === null)
    return [paint.dim(heading[0] ?? ''), ...rows.flatMap((row) => blockOf(heading, row, { paint, columns })), ''].join(
      '\n',
    )
  return [paint.dim(lineOf(heading, widths)), ...rows.flatMap((row) => linesOf(row, widths)), ''].join('\n')
}

/** Returns how far each column may be narrowed. People copy the first one, which names the row. */
const leastWidths = (heading: readonly string[], rows: readonly (readonly string[])[], columns: number) =>
  heading.map((name, column) => {
    const cells = rows.map((row) => row[column] ?? '')
    if (column === 0)
      return Math.max(name.length, Math.min(Math.floor(columns / 2), Math.max(0, ...cells.map(cellWidth))))
    const longest = Math.max(0, ...cells.flatMap((cell) => cell.split(' ').map(cellWidth)))
    return Math.max(name.length, Math.min(longest, Math.max(wholeWordMax, Math.ceil(longest / 2))))
  })

/** Narrows the widest columns, as little as needed, the first one last. Returns null if they cannot fit. */
function fit(needed: readonly number[], least: readonly number[], columns: number): readonly number[] | null {
  const widths = [...needed]
  const room = columns - gap.length * (needed.length - 1)
  let over = widths.reduce((sum, width) => sum + width, 0) - room
  const narrow = (from: number, to: number) => {
    while (over > 0) {
      const [widest] = widths
        .map((width, column) => ({ width, column }))
        .slice(from, to)
        .filter(({ width, column }) => width > (least[column] ?? 0))
        .sort((one, other) => other.width - one.width)
      if (!widest) return
      widths[widest.column] = widest.width - 1
      over--
    }
  }
  narrow(1, widths.length)
  narrow(0, 1)
  return over > 0 ? null : widths
}

/** Returns a row as lines of its own: its name, and below it the other cells with their headings. */
function blockOf(
  heading: readonly string[],
  [name = '', ...cells]: readonly string[],
  { paint, columns }: TableOutput,
): readonly string[] {
  const room = Math.max(1, (columns ?? 80) - gap.length)
  const lines: string[] = []
  let parts: string[] = []
  const endLine = () => {
    lines.push(...wrapParts(parts, gap, room))
    parts = []
  }
  for (const [column, cell] of cells.entries()) {
    if (cell === '') continue
    const label = heading[column + 1] ?? ''
    const [first = '', ...rest] = wrapCell(`${label} ${cell}`, room)
    if (rest.length > 0) endLine()
    parts.push(paint.dim(label) + first.slice(label.length))
    if (rest.length === 0) continue
    endLine()
    lines.push(...rest)
  }
  endLine()
  return [...wrapCell(name, columns ?? 80).map(paint.bold), ...lines.map((line) => gap + line)]
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

/** Wraps at words, and within a word that is too long, such as a path: after a mark in it if there is one. */
const wrapCell = (cell: string, width: number): readonly string[] =>
  wrapWords(cell, width).flatMap((line) => {
    if (cellWidth(line) <= width) return [line]
    const pieces: string[] = []
    for (let rest = line; rest !== ''; ) {
      const most = cutCells(rest, width) || rest.slice(0, 1)
      const marked = most === rest ? null : /^.*[^\s\w](?=\w)/su.exec(rest.slice(0, most.length + 1))?.[0]
      const piece = marked && marked.length > most.length / 2 ? marked.slice(0, most.length) : most
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
