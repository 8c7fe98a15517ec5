import { outcomeOutput } from '../event/call.ts'
import type { Event, EventOf } from '../event/event.ts'
import type { Content } from '../value/content.ts'
import { limits } from '../value/limits.ts'
import { isTextType } from '../value/media-type.ts'

const charsPerToken = 4
/** What a message costs beside its words. */
const frameTokens = 4
/** What providers take for a picture of the size they like best. */
const pictureTokens = 1600

/** About how many tokens a text is: good enough to know when a context fills, and the same for every model. */
export const textTokens = (text: string): number => Math.ceil(text.length / charsPerToken) + frameTokens

type FileSize = Pick<Extract<Content[number], { type: 'file' }>, 'mediaType' | 'bytes'>

export const fileTokens = ({ mediaType, bytes }: FileSize): number =>
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

/** Follows the size of a window along a record. The provider's own count, where it gives one, beats our guess. */
export function tokensAfter(tokens: number, event: Event): number {
  switch (event.type) {
    case 'step.ended':
      return countedTokens(event) ?? tokens
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

/** Whether the size of a window is our guess: from the moment something is added to what a provider counted. */
export function isEstimateAfter(isEstimate: boolean, event: Event): boolean {
  switch (event.type) {
    case 'step.ended':
      return countedTokens(event) === null && isEstimate
    case 'line.moved':
    case 'checkpoint.undone':
    case 'checkpoint.written':
    case 'session.started':
      return true
    default:
      return isEstimate || eventTokens(event) > 0
  }
}

/** What the provider counted of a call: all it was told, and what it said; null where it did not. */
function countedTokens({ usage }: EventOf<'step.ended'>): number | null {
  const told = usage ? usage.input + usage.cacheRead + usage.cacheWrite : 0
  return usage && told > 0 ? told + usage.output : null
}
