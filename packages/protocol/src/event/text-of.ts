import { contentText } from '../value/content-text.ts'
import type { Event } from './event.ts'

/** Returns the text of an event for previews and search; empty when it has none. */
export function textOf(event: Event): string {
  switch (event.type) {
    case 'user.said':
      return contentText(event.content)
    case 'text.said':
    case 'thinking.said':
    case 'note.added':
      return event.text
    case 'checkpoint.written':
      return event.summary
    case 'summary.saved':
      return event.text
    case 'call.settled':
      return 'output' in event.outcome ? (event.outcome.output?.text ?? '') : ''
    default:
      return ''
  }
}

/** Returns at most `max` characters of the first line, without splitting a surrogate pair. */
export function firstLine(text: string, max: number): string {
  const line = text.trimStart().split(/\r\n|[\n\r\u2028\u2029]/u, 1)[0] ?? ''
  return clip(line.trim(), max)
}

/** Returns at most `max` characters, without splitting a surrogate pair. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text
  const splitsPair = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(max - 1, max + 1))
  return text.slice(0, splitsPair ? max - 1 : max)
}
