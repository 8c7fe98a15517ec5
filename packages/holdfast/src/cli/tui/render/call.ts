import type { CallStatus, CallView, Message } from '@holdfast/protocol'
import { cutLine, line, type StyledLine, shownLine, shownText, span, styles } from '../term/lines.ts'
import { wrapLine } from '../term/wrap.ts'
import { diffRows } from './diff.ts'
import { callSummary, durationText } from './format.ts'

/** How a card is drawn. */
export type CardOptions = {
  readonly width: number
  /** Whether everything is shown, or only some rows of the result. */
  readonly isOpen: boolean
  /** The output of a running call so far. */
  readonly output?: string | undefined
  /** The mark of a running call. */
  readonly spinner?: string | undefined
}

const marks: Readonly<Record<CallStatus, readonly [string, string]>> = {
  waiting: ['?', styles.warn],
  running: ['●', styles.warn],
  complete: ['✓', styles.good],
  error: ['✗', styles.bad],
  denied: ['⊘', styles.bad],
  interrupted: ['⊘', styles.warn],
}

const foldedRows = { diff: 14, output: 6, error: 6 } as const

/** Returns the rows of a tool call: what it does, how it ended, and its result. */
export function callRows(
  { call }: Extract<Message, { readonly kind: 'tool_call' }>,
  options: CardOptions,
): readonly StyledLine[] {
  const { width, isOpen, spinner } = options
  const [mark, style] = marks[call.status]
  const shownMark = call.status === 'running' && spinner !== undefined ? spinner : mark
  const time = call.durationMs === null || call.durationMs < 100 ? '' : `  ${durationText(call.durationMs)}`
  const head: StyledLine = [
    span(`${shownMark} `, style),
    span(shownLine(call.tool), styles.bold),
    span(` ${callSummary(call)}`),
    span(`${statusWord(call)}${time}`, styles.dim),
  ]
  const heads = isOpen ? wrapLine(head, width, [span('  ')]) : [cutLine(head, width)]
  return [...heads, ...bodyRows(call, options)]
}

function statusWord({ status }: CallView): string {
  if (status === 'denied') return '  not allowed'
  return status === 'interrupted' ? '  interrupted' : ''
}

const bar = span('  │ ', styles.dim)

function bodyRows(call: CallView, { width, isOpen, output }: CardOptions): readonly StyledLine[] {
  const inner = Math.max(10, width - 4)
  if (call.child) return childRows(call.child, inner)
  if (call.preview?.type === 'diff' && call.status !== 'denied')
    return folded(diffRows(call.preview.diff, inner, isOpen ? undefined : foldedRows.diff), isOpen, foldedRows.diff)
  const text = call.result?.text ?? output ?? ''
  if (isOpen) return outputRows(text, inner).map(barred)
  if (call.status === 'complete' && isReading(call.tool)) return [barred(line(countLine(text), styles.dim))]
  const rows = outputRows(tailOf(text), inner)
  const isRunning = call.status === 'running' || call.status === 'waiting'
  if (isRunning || call.tool === 'shell') return foldedTail(rows, text)
  return folded(rows, false, foldedRows.output)
}

/** A long output is cut before it is wrapped. Some characters more than any screen shows. */
const tailChars = 20_000
const tailOf = (text: string): string =>
  text.length > 2 * tailChars ? `${text.slice(0, tailChars)}\n${text.slice(-tailChars)}` : text

const barred = (row: StyledLine): StyledLine => [bar, ...row]

// Colours of programs; other sequences are escaped.
const colours = /\u001b\[[0-9;]*m/g

const outputRows = (text: string, width: number): readonly StyledLine[] => {
  const shown = shownText(text.replace(colours, '').replaceAll(/\r+\n/g, '\n')).replace(/(?<!\n)\n+$/, '')
  return shown === '' ? [] : shown.split('\n').flatMap((one) => wrapLine(line(one, styles.dim), width))
}

function folded(rows: readonly StyledLine[], isOpen: boolean, rowsMax: number): readonly StyledLine[] {
  if (isOpen || rows.length <= rowsMax + 1) return rows.map(barred)
  return [
    ...rows.slice(0, rowsMax).map(barred),
    barred(line(`… ${rows.length - rowsMax}+ more rows (Ctrl+O)`, styles.dim)),
  ]
}

/** Of the output of a command the end says most. */
function foldedTail(rows: readonly StyledLine[], text: string): readonly StyledLine[] {
  const left = rows.length - foldedRows.output
  if (left <= 1) return rows.map(barred)
  const lines = text.split('\n').length
  return [
    barred(line(`… ${Math.max(left, lines - foldedRows.output)} rows before (Ctrl+O)`, styles.dim)),
    ...rows.slice(left).map(barred),
  ]
}

const reading = new Set([
  'read_file',
  'list_directory',
  'find',
  'grep',
  'fetch_url',
  'git_diff',
  'git_log',
  'git_status',
  'describe_tools',
  'todo_read',
])
const isReading = (tool: string): boolean => reading.has(tool)

const countLine = (text: string): string => {
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
  return lines === 1 ? shownLine(text.trim().replace(/^1\t/, '')).slice(0, 200) : `${lines} lines`
}

function childRows(
  { agent, task, outcome, background }: NonNullable<CallView['child']>,
  width: number,
): readonly StyledLine[] {
  const state = outcome ?? (background ? 'works in the background' : 'works')
  return [barred(cutLine(line(`subagent (${shownLine(agent)}) ${state}: ${shownLine(task)}`, styles.dim), width))]
}
