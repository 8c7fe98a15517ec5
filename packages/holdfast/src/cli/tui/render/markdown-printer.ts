import { createSettlingParser, type SettlingBlocks } from '@holdfast/client/markdown'
import type { MarkdownPrinter } from '../../render/run-output.ts'
import { toAnsi } from '../term/lines.ts'
import { createCodeColours } from './code.ts'
import { blockRows } from './markdown.ts'

/** Lines longer than this are hard to read. */
const columnsMax = 100

/** The block that is still being written is drawn at most so often. */
const drawnEachMs = 50

type PrinterOptions = {
  readonly columns: number
  readonly isColoured: boolean
  /** Returns the height of the terminal; null if it has none, so that nothing can be taken back. */
  readonly rows: () => number | null
  readonly now: () => number
}

/**
 * Draws a streaming text in the scrollback of a terminal. A block that is final is printed once. Below it is the end of the
 * block that is being written, which is taken back before the next is printed.
 */
export function createMarkdownPrinter({ columns, isColoured, rows, now }: PrinterOptions): MarkdownPrinter {
  const width = Math.min(columns, columnsMax)
  const colours = createCodeColours(() => undefined)
  let parse = createSettlingParser()
  let text = ''
  let printed = 0
  /** How many rows of an unfinished block are on the terminal. */
  let unfinished = 0
  let drawnAt = Number.NEGATIVE_INFINITY

  const rowsOf = (blocks: SettlingBlocks['blocks']): readonly string[] =>
    blocks.flatMap((block, index) => {
      const space = printed + index > 0 ? [''] : []
      return [...space, ...blockRows(block, width, colours).map((row) => toAnsi(row, isColoured))]
    })
  const print = (blocks: SettlingBlocks['blocks']): string => {
    const drawn = toLines(rowsOf(blocks))
    printed += blocks.length
    return drawn
  }
  const takeBack = (): string => {
    const taken = unfinished === 0 ? '' : `\u001b[${unfinished}A\r\u001b[J`
    unfinished = 0
    return taken
  }
  /** Draws the last rows of what is not final: no more than can be taken back. */
  const drawUnfinished = (blocks: SettlingBlocks['blocks']): string => {
    const height = rows()
    if (height === null || blocks.length === 0) return ''
    const shown = rowsOf(blocks).slice(-Math.max(1, height - rowsLeft))
    unfinished = shown.length
    return toLines(shown)
  }
  return {
    add(more) {
      text += more
      const isDue = now() - drawnAt >= drawnEachMs
      colours.isReady(text) // loads the colours while the code is still being written
      const { blocks, settled } = parse(text)
      if (settled === printed && !isDue) return ''
      drawnAt = now()
      return takeBack() + print(blocks.slice(printed, settled)) + drawUnfinished(blocks.slice(settled))
    },
    end() {
      const rest = takeBack() + print(parse(text).blocks.slice(printed))
      parse = createSettlingParser()
      text = ''
      printed = 0
      drawnAt = Number.NEGATIVE_INFINITY
      return rest
    },
  }
}

/** The row of the cursor, and one above, so that nothing scrolls away that has to be taken back. */
const rowsLeft = 2

const toLines = (rows: readonly string[]): string => rows.map((row) => `${row}\n`).join('')
