import { type CallView, clip, escapeLine, limits, type Message, type Meta } from '@holdfast/protocol'
import { oneLine } from './format.ts'

const telling = ['command', 'path', 'file', 'pattern', 'query', 'url', 'task', 'name']
const summaryCharsMax = 160

/** Summarizes a call in one line: its most telling argument, else the first text. */
export function callSummary({ args }: Pick<CallView, 'args'>): string {
  const named = telling.map((name) => args[name])
  const found = [...named, ...Object.values(args)].find((value) => typeof value === 'string' && value !== '')
  return typeof found === 'string' ? escapeLine(clip(found, summaryCharsMax)) : ''
}

const charsMax = 160

/** Returns a message as one line. */
export function messageText(message: Message): string {
  switch (message.kind) {
    case 'tool_call':
      return `${escapeLine(message.call.tool)} ${callSummary(message.call)}`
    case 'usage':
      return 'The end of an answer'
    case 'notice':
      return message.code === 'compacted' ? 'A checkpoint' : oneLine(clip(message.text, charsMax))
    default:
      return oneLine(clip(message.text, charsMax)) || 'A file'
  }
}

const marks = /^[\s>#|*+-]+|[`*~|]+|(?<![\p{L}\p{N}_])_+(?=\S)|(?<=\S)_+(?![\p{L}\p{N}_])/gu
const hasWords = /[\p{L}\p{N}]/u

type Previewed = Pick<Meta, 'title' | 'recentText' | 'preview' | 'turnCount'>

/**
 * Returns a line of what was said last, without the marks of markdown; empty if the title says the same. A text of full
 * length is the beginning of one message: its first line. A shorter text has whole messages, and does not say where each
 * begins: in the first turn the answer is behind the prompt, and later the last line is taken.
 */
export function previewText({ title, recentText, preview, turnCount }: Previewed): string {
  const lines = (recentText || preview)
    .split('\n')
    .map((line) => oneLine(line.replaceAll(marks, ' ')))
    .filter((line) => hasWords.test(line))
  const [first = '', second] = lines
  if (recentText.length >= limits.recentTextCharsMax - 1)
    return second === undefined ? `${first.slice(0, first.includes(' ') ? first.lastIndexOf(' ') : undefined)}…` : first
  const isFirstTurn = turnCount <= 1 && first === oneLine(preview)
  const shown = (isFirstTurn ? second : undefined) ?? lines.at(-1) ?? ''
  return shown === oneLine(title) ? '' : shown
}
