import { parseMarkdown } from '@holdfast/client/markdown'
import type { Message } from '@holdfast/protocol'
import {
  cutLine,
  emptyLine,
  line,
  type StyledLine,
  shownLine,
  shownProse,
  shownText,
  span,
  styles,
} from '../term/lines.ts'
import { wrapText } from '../term/wrap.ts'
import { callRows } from './call.ts'
import type { CodeColours } from './code.ts'
import { markdownRows } from './markdown.ts'

export type MessageOptions = {
  readonly width: number
  readonly colours: CodeColours
  /** Whether tool calls and thinking are shown whole. */
  readonly isOpen: boolean
}

/** Returns the rows of a message, with an empty row before it; none if there is nothing to read. */
export function messageRows(message: Message, options: MessageOptions): readonly StyledLine[] {
  const rows = drawMessage(message, options)
  return rows.length === 0 ? rows : [emptyLine, ...rows]
}

function drawMessage(message: Message, { width, colours, isOpen }: MessageOptions): readonly StyledLine[] {
  switch (message.kind) {
    case 'user':
      return userRows(message, width, isOpen)
    case 'assistant':
      return [...markdownRows(parseMarkdown(message.text), width, colours), ...interruptedRow(message)]
    case 'thinking':
      return thinkingRows(message.text, width, isOpen)
    case 'tool_call':
      return callRows(message, { width, isOpen })
    case 'system':
    case 'notice':
      return noticeRows(message, width, isOpen)
    case 'usage':
      return message.fault ? wrapText(`✗ ${shownText(message.fault.message)}`, width, styles.bad, [span('  ')]) : []
  }
}

export const interruptedRow = ({ interrupted }: { readonly interrupted?: true | undefined }): readonly StyledLine[] =>
  interrupted ? [line('⊘ interrupted', styles.warn)] : []

const userRowsMax = 40

function userRows(
  { text, parts, child }: Extract<Message, { readonly kind: 'user' }>,
  width: number,
  isOpen: boolean,
): readonly StyledLine[] {
  const files = parts.flatMap((part) =>
    part.type === 'file'
      ? [line(`  [${shownLine(part.name ?? part.mediaType)}, ${part.bytes} bytes]`, styles.dim)]
      : [],
  )
  if (child)
    return [
      line(`◂ subagent ${shownLine(child.agent)}`, styles.special),
      ...clipRows(wrapText(shownText(text), width), isOpen, 8),
    ]
  const rows = text === '' ? [] : wrapText(shownProse(text), width - 2, styles.bold)
  const marked = rows.map((row, index): StyledLine => [span(index === 0 ? '❯ ' : '  ', styles.accent), ...row])
  return [...clipRows(marked, isOpen, userRowsMax), ...files]
}

function thinkingRows(text: string, width: number, isOpen: boolean): readonly StyledLine[] {
  const shown = shownProse(text).trim()
  if (shown === '') return []
  const rows = wrapText(shown, width - 2, `${styles.dim};${styles.italic}`)
  const marked = rows.map((row, index): StyledLine => [span(index === 0 ? '✻ ' : '  ', styles.dim), ...row])
  return clipRows(marked, isOpen, 3)
}

function noticeRows(
  { level, text, kind, ...rest }: Extract<Message, { readonly kind: 'system' | 'notice' }>,
  width: number,
  isOpen: boolean,
): readonly StyledLine[] {
  const code = 'code' in rest ? rest.code : undefined
  if (code === 'compacted')
    return clipRows(
      [
        line('── older messages were summarized for the model ──', styles.dim),
        ...wrapText(shownText(text), width, styles.dim),
      ],
      isOpen,
      4,
    )
  if (code === 'plan_mode') return [] // the call says the same
  const style = level === 'error' ? styles.bad : styles.dim
  const mark = level === 'error' ? '✗ ' : kind === 'system' ? 'ℹ ' : '· '
  return clipRows(wrapText(mark + shownText(text), width, style, [span('  ')]), isOpen, 10)
}

function clipRows(rows: readonly StyledLine[], isOpen: boolean, rowsMax: number): readonly StyledLine[] {
  if (isOpen || rows.length <= rowsMax + 1) return rows
  return [...rows.slice(0, rowsMax), line(`  … ${rows.length - rowsMax} more rows (Ctrl+O)`, styles.dim)]
}

/** Returns a message as one row, for lists. */
export function messageRow(message: Message, width: number): StyledLine {
  const text = message.kind === 'tool_call' ? message.call.tool : message.kind === 'usage' ? '' : message.text
  return cutLine(line(shownLine(text.replaceAll(/\s+/g, ' ').slice(0, 500))), width)
}
