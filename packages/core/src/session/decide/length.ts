import { type Event, messagesAfter, tokensAfter } from '@holdfast/protocol'
import type { SessionState } from '../state.ts'

/** Writes down at each turn's end how long the line is there, so that a later branch from it need not count. */
export function withLengths({ messages, tokens }: SessionState, events: readonly Event[]): readonly Event[] {
  let length = { messages, tokens }
  return events.map((event) => {
    length = { messages: messagesAfter(length.messages, event), tokens: tokensAfter(length.tokens, event) }
    return event.type === 'turn.ended' ? { ...event, ...length } : event
  })
}
