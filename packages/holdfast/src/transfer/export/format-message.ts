import type { Message } from '@holdfast/protocol'
import * as html from './html.ts'
import { toJsonText } from './json.ts'
import * as markdown from './markdown.ts'

export type MessageFormat = 'md' | 'html' | 'json'

const writers = { md: markdown.message, html: html.message, json: toJsonText }

/** Formats one message. Time and memory are linear in its size, but Markdown takes milliseconds for a few kilobytes. */
export const formatMessage = (message: Message, format: MessageFormat): string => writers[format](message)

/** Returns about how many characters of a message are to be formatted. */
export function countChars(message: Message): number {
  switch (message.kind) {
    case 'tool_call':
      return JSON.stringify(message.call.args).length + (message.call.result?.text.length ?? 0)
    case 'usage':
      return message.fault?.message.length ?? 0
    default:
      return message.text.length
  }
}
