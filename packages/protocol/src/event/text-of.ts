import { contentText } from '../value/content-text.ts'
import type { Event } from './event.ts'

/** The words of an event that previews show and search finds; empty when it has none. */
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

/** At most `max` characters of the first line, cut on a code point. */
export function firstLine(text: string, max: number): string {
  const line = text.trimStart().split(/\r\n|[\n\r\u2028\u2029]/u, 1)[0] ?? ''
  return clip(line.trim(), max)
}

/** At most `max` characters, never half of a surrogate pair. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text
  const isHalved = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(max - 1, max + 1))
  return text.slice(0, isHalved ? max - 1 : max)
}
