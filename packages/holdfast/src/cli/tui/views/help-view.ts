import { cellWidth } from '../term/cell-width.ts'
import { emptyLine, line, type StyledLine, span, styles } from '../term/lines.ts'
import { wrapLine, wrapText } from '../term/wrap.ts'
import type { ViewHost } from './full-view.ts'
import { createTextView, type TextView } from './text-view.ts'

/** Keys or commands under a heading, each with what it does. */
export type HelpSection = { readonly heading: string; readonly rows: readonly (readonly [string, string])[] }

/** A longer first cell has rows of its own. */
const firstCells = 22
const edge = '  '

/** Shows the keys and the commands. */
export function createHelpView(sections: () => readonly HelpSection[], host: ViewHost): TextView {
  const rows = (width: number) => helpRows(sections(), width)
  return createTextView({ title: () => 'Keys and commands', rows }, host)
}

export const helpRows = (sections: readonly HelpSection[], width: number): readonly StyledLine[] =>
  sections.flatMap(({ heading, rows }, index) => [
    ...(index === 0 ? [] : [emptyLine]),
    line(heading, styles.bold),
    ...rows.flatMap(([key, about]) => tableRows(key, about, width)),
  ])

function tableRows(key: string, about: string, width: number): readonly StyledLine[] {
  // On a narrow terminal the second column would have no room.
  const first = Math.min(firstCells, Math.floor(width / 3))
  const indent = span(' '.repeat(edge.length + first + 2))
  const texts = wrapText(about, Math.max(1, width - indent.text.length))
  const isShort = cellWidth(key) <= first
  const [start = [], ...rest] = texts.map((text): StyledLine => [indent, ...text])
  if (!isShort)
    return [...wrapLine([span(edge), span(key, styles.accent)], width, [span(edge.repeat(3))]), start, ...rest]
  const gap = ' '.repeat(first - cellWidth(key) + 2)
  return [[span(edge), span(key, styles.accent), span(gap), ...(texts[0] ?? [])], ...rest]
}
