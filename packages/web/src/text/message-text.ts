import { type CallView, clip, escapeLine, type Message, type Meta } from '@holdfast/protocol'
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

const marks = /^[\s>#|*+-]+|[`*_~|]+/g
const hasWords = /[\p{L}\p{N}]/u

/** Returns the last line that was said in a session, without the marks of markdown; empty if the title says the same. */
export function previewText({ title, recentText, preview }: Pick<Meta, 'title' | 'recentText' | 'preview'>): string {
  const lines = (recentText || preview).split('\n').map((line) => oneLine(line.replaceAll(marks, ' ')))
  const last = lines.findLast((line) => hasWords.test(line)) ?? ''
  return last === oneLine(title) ? '' : last
}
