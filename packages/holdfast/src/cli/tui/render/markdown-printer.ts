import { createSettlingParser, type SettlingBlocks } from '@holdfast/client/markdown'
import type { MarkdownPrinter } from '../../render/run-output.ts'
import { toAnsi } from '../term/lines.ts'
import { createCodeColours } from './code.ts'
import { blockRows } from './markdown.ts'

/** Lines longer than this are hard to read. */
const columnsMax = 100

/** Draws a streaming text for a terminal that cannot take back what it has printed: each block once it is final. */
export function createMarkdownPrinter(columns: number, isColoured: boolean): MarkdownPrinter {
  const width = Math.min(columns, columnsMax)
  const colours = createCodeColours(() => undefined)
  let parse = createSettlingParser()
  let text = ''
  let printed = 0

  const draw = (blocks: SettlingBlocks['blocks']): string => {
    const rows = blocks.flatMap((block, index) => {
      const space = printed + index > 0 ? [''] : []
      return [...space, ...blockRows(block, width, colours).map((row) => toAnsi(row, isColoured))]
    })
    printed += blocks.length
    return rows.map((row) => `${row}\n`).join('')
  }
  return {
    add(more) {
      text += more
      colours.isReady(text) // loads the colours while the code is still being written
      const { blocks, settled } = parse(text)
      return draw(blocks.slice(printed, settled))
    },
    end() {
      const rest = draw(parse(text).blocks.slice(printed))
      parse = createSettlingParser()
      text = ''
      printed = 0
      return rest
    },
  }
}
