import type { Block, Cell, Inline, Item } from '@holdfast/client/markdown'
import { cellWidth } from '../term/cell-width.ts'
import {
  both,
  cutLine,
  emptyLine,
  line,
  lineWidth,
  type Span,
  type StyledLine,
  shownLine,
  shownProse,
  shownText,
  span,
  styles,
} from '../term/lines.ts'
import { wrapLine } from '../term/wrap.ts'
import type { CodeColours } from './code.ts'

/** Returns the rows of Markdown blocks, with an empty row between two blocks. */
export function markdownRows(blocks: readonly Block[], width: number, colours: CodeColours): readonly StyledLine[] {
  return blocks.flatMap((block, index) => [...(index > 0 ? [emptyLine] : []), ...blockRows(block, width, colours)])
}

const known = new WeakMap<Block, { readonly width: number; readonly rows: readonly StyledLine[] }>()

/** Returns the rows of a block. Those of a closed block are remembered: a streaming text draws its blocks many times. */
export function blockRows(block: Block, width: number, colours: CodeColours): readonly StyledLine[] {
  const before = known.get(block)
  if (before?.width === width) return before.rows
  const rows = drawBlock(block, Math.max(10, width), colours)
  known.set(block, { width, rows })
  return rows
}

function drawBlock(block: Block, width: number, colours: CodeColours): readonly StyledLine[] {
  switch (block.type) {
    case 'heading':
      return wrapInlines(block.inner, width, block.level <= 2 ? both(styles.bold, styles.accent) : styles.bold)
    case 'paragraph':
      return wrapInlines(block.inner, width, '')
    case 'code':
      return codeRows(block.language, block.text, width, colours)
    case 'list':
      return block.items.flatMap((item, index) => itemRows(item, block.start, index, width, colours))
    case 'quote':
      return prefixed(markdownRows(block.blocks, width - 2, colours), [span('│ ', styles.dim)])
    case 'table':
      return tableRows(block.head, block.rows, width)
    case 'math':
      return shownText(block.tex)
        .split('\n')
        .flatMap((one) => wrapLine(line(`  ${one}`, styles.special), width))
    case 'footnotes':
      return block.notes.flatMap(({ number, blocks }) =>
        hung(markdownRows(blocks, width - 5, colours), [span(`[${number}] `, styles.dim)], '     '),
      )
    case 'rule':
      return [line('─'.repeat(Math.min(width, 40)), styles.dim)]
  }
}

/** Code is broken at the edge, not at words, so that it can be read as it is. */
function codeRows(language: string, text: string, width: number, colours: CodeColours): readonly StyledLine[] {
  const bar = span('▏ ', styles.dim)
  const rows = colours.lines(language, shownText(text)).flatMap((one) => wrapLine(one, width - 2))
  return rows.map((row): StyledLine => [bar, ...row])
}

function itemRows(
  { checked, blocks }: Item,
  start: number | null,
  index: number,
  width: number,
  colours: CodeColours,
): readonly StyledLine[] {
  const box = checked === null ? '' : checked ? '☑ ' : '☐ '
  const mark = `${start === null ? '• ' : `${start + index}. `}${box}`
  const indent = cellWidth(mark)
  return hung(
    blocks.flatMap((block) => blockRows(block, width - indent, colours)),
    [span(mark, styles.accent)],
    ' '.repeat(indent),
  )
}

const prefixed = (rows: readonly StyledLine[], prefix: StyledLine): readonly StyledLine[] =>
  rows.map((row) => [...prefix, ...row])

/** Puts a mark before the first row and spaces before the others. */
const hung = (rows: readonly StyledLine[], mark: StyledLine, indent: string): readonly StyledLine[] =>
  rows.length === 0 ? [mark] : rows.map((row, index) => [...(index === 0 ? mark : [span(indent)]), ...row])

const wrapInlines = (inner: readonly Inline[], width: number, style: string): readonly StyledLine[] =>
  splitLines(toSpans(inner, style)).flatMap((one) => wrapLine(one, width))

const toSpans = (inner: readonly Inline[], style: string): readonly Span[] =>
  inner.flatMap((one) => inlineSpans(one, style))

function inlineSpans(one: Inline, style: string): readonly Span[] {
  switch (one.type) {
    case 'text':
      return [span(shownProse(one.text), style)]
    case 'code':
      return [span(shownText(one.text), both(style, styles.accent))]
    case 'strong':
      return toSpans(one.inner, both(style, styles.bold))
    case 'emphasis':
      return toSpans(one.inner, both(style, styles.italic))
    case 'struck':
      return toSpans(one.inner, both(style, styles.struck))
    case 'link': {
      const shown = toSpans(one.inner, both(style, styles.link))
      const text = shown.map(({ text: piece }) => piece).join('')
      // The address is always shown: a link whose text names another place must not deceive.
      const isAddress = text === one.href || `${text}/` === one.href
      return isAddress ? shown : [...shown, span(` (${shownLine(one.href)})`, styles.dim)]
    }
    case 'image':
      return [span(`[image: ${shownLine(one.text)}]`, both(style, styles.dim))]
    case 'math':
      return [span(shownText(one.tex), both(style, styles.special))]
    case 'footnote':
      return [span(`[${one.number}]`, styles.dim)]
  }
}

function splitLines(spans: readonly Span[]): readonly StyledLine[] {
  const lines: Span[][] = [[]]
  for (const { text, style } of spans) {
    const [first = '', ...rest] = text.split('\n')
    lines.at(-1)?.push({ text: first, style })
    for (const one of rest) lines.push([{ text: one, style }])
  }
  return lines
}

/** A column is never narrower than this, as long as a table fits at all. */
const columnMin = 6

function tableRows(head: readonly Cell[], rows: readonly (readonly Cell[])[], width: number): readonly StyledLine[] {
  const cells = [head, ...rows].map((row, index) =>
    row.map(({ inner }) => toSpans(inner, index === 0 ? styles.bold : '')),
  )
  const wanted = head.map((_, column) => Math.max(1, ...cells.map((row) => lineWidth(row[column] ?? []))))
  const gaps = 3 * (head.length - 1)
  const widths = fitColumns(wanted, Math.max(head.length * columnMin, width - gaps))
  const [headRows = [], ...bodyRows] = cells.map((row) => {
    const wrapped = row.map((cell, column) => wrapLine(cell.map(oneLine), widths[column] ?? columnMin))
    const height = Math.max(1, ...wrapped.map((lines) => lines.length))
    return Array.from({ length: height }, (_, at) =>
      tableRow(
        wrapped.map((lines) => lines[at] ?? []),
        widths,
        head,
      ),
    )
  })
  const rule = line(widths.map((one) => '─'.repeat(one)).join('─┼─'), styles.dim)
  return [...headRows, rule, ...bodyRows.flat()].map((row) => cutLine(row, width))
}

const oneLine = ({ text, style }: Span): Span => ({ text: text.replaceAll('\n', ' '), style })

function tableRow(parts: readonly StyledLine[], widths: readonly number[], head: readonly Cell[]): StyledLine {
  return parts.flatMap((part, column): StyledLine => {
    const gap = Math.max(0, (widths[column] ?? 0) - lineWidth(part))
    const align = head[column]?.align
    const before = align === 'right' ? gap : align === 'center' ? Math.floor(gap / 2) : 0
    const between = column > 0 ? [span(' │ ', styles.dim)] : []
    return [...between, span(' '.repeat(before)), ...part, span(' '.repeat(gap - before))]
  })
}

/** Shares the width out: the widest columns give way first. */
function fitColumns(wanted: readonly number[], width: number): readonly number[] {
  const fitted = [...wanted]
  for (let over = fitted.reduce((sum, one) => sum + one, 0) - width; over > 0; over--) {
    const widest = fitted.indexOf(Math.max(...fitted))
    if ((fitted[widest] ?? 0) <= columnMin) break
    fitted[widest] = (fitted[widest] ?? 0) - 1
  }
  return fitted
}
