import { clip, contentText, outcomeOutput } from '@holdfast/protocol'
import type { WindowMessage } from './window.ts'

const charsMax = 20_000
const resultCharsMax = 4_000

/** Returns a message as plain text, for a model that summarises or gets a pinned message. */
export function quote({ event, outcome }: WindowMessage): string {
  switch (event.type) {
    case 'user.said': {
      const files = event.content.flatMap((part) =>
        part.type === 'file' ? [`[file ${part.name ?? part.mediaType}]`] : [],
      )
      return `[user] ${shorten([contentText(event.content), ...files].join('\n'), charsMax)}`
    }
    case 'note.added':
      return event.text.trim() === '' ? '' : `[system] ${shorten(event.text, charsMax)}`
    case 'thinking.said':
      return ''
    case 'text.said':
      return event.text.trim() === '' ? '' : `[assistant] ${shorten(event.text, charsMax)}`
    case 'call.requested': {
      const result = outcome ? outcomeOutput(outcome).text : 'no result'
      return `[tool ${event.tool}] ${shorten(JSON.stringify(event.args), resultCharsMax)}\n${shorten(result, resultCharsMax)}`
    }
  }
}

/** Shortens a text to its head and tail. */
function shorten(text: string, max: number): string {
  const whole = text.toWellFormed()
  if (whole.length <= max) return whole
  const half = Math.floor(max / 2)
  return `${clip(whole, half)}\n[${whole.length - 2 * half} characters left out]\n${whole.slice(-half).toWellFormed()}`
}

/** Joins messages as plain text, without empty ones. */
export const quoteAll = (messages: readonly WindowMessage[]): string =>
  messages
    .map(quote)
    .filter((text) => text !== '')
    .join('\n\n')
