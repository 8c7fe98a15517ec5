import type { Content } from './content.ts'
import type { Event } from './event/event.ts'
import { limits } from './limits.ts'
import { isTextType } from './media-type.ts'
import { outcomeOutput } from './outcome-output.ts'

const charsPerToken = 4
/** What a message costs beside its words. */
const frameTokens = 4
/** What services take for a picture of the size they like best. */
const pictureTokens = 1600

/** About how many tokens a text is: good enough to know when a context fills, and the same for every model. */
export const textTokens = (text: string): number => Math.ceil(text.length / charsPerToken) + frameTokens

const fileTokens = ({ mediaType, bytes }: Extract<Content[number], { type: 'file' }>): number =>
  isTextType(mediaType) ? Math.ceil(Math.min(bytes, limits.textFileBytesMax) / charsPerToken) : pictureTokens

const contentTokens = (content: Content): number =>
  content.reduce((sum, part) => sum + (part.type === 'text' ? textTokens(part.text) : fileTokens(part)), 0)

/** About how many tokens an event adds to what the model is told; 0 for what it is not told. */
export function eventTokens(event: Event): number {
  switch (event.type) {
    case 'user.said':
      return contentTokens(event.content)
    case 'thinking.said':
    case 'text.said':
      return textTokens(event.text)
    case 'call.requested':
      return textTokens(event.tool) + textTokens(JSON.stringify(event.args))
    case 'call.settled':
      return textTokens(outcomeOutput(event.outcome).text)
    case 'note.added':
      return event.told ? textTokens(event.text) : 0
    default:
      return 0
  }
}

/** Follows the size of a window along a record. The service's own count, where it gives one, beats our guess. */
export function tokensAfter(tokens: number, event: Event): number {
  switch (event.type) {
    case 'step.ended': {
      const { input, output, cacheRead, cacheWrite } = event.usage ?? {
        input: 0,
        output: 0,
        cacheRead: 0,
        cacheWrite: 0,
      }
      const counted = input + cacheRead + cacheWrite
      return counted > 0 ? counted + output : tokens
    }
    case 'line.moved':
    case 'checkpoint.undone':
      return event.tokens
    case 'checkpoint.written':
      return event.tokensAfter
    case 'session.started':
      return event.fork?.tokens ?? tokens
    default:
      return tokens + eventTokens(event)
  }
}
