import { type AppendClientEvent, fault, limits, type MessageId, ok, refuse, TurnNumber } from '@holdfast/protocol'
import type { Facts } from '../facts.ts'
import type { Decided, Events } from '../input.ts'
import type { SessionState } from '../state.ts'

const notFound = (message: number) =>
  fault('message_not_found', `There is no message ${message} on this line.`, { message })

/** Pins a message in the model's context, or unpins it. Pins may fill only a part of the context. */
export function togglePin(state: SessionState, message: MessageId, facts: Facts): Decided {
  if (state.pins.some((pin) => pin.message === message)) return ok([{ type: 'message.pinned', message, pinned: false }])
  const found = facts.message
  if (!found) return refuse(notFound(message))
  if (!found.isTold) {
    return refuse(fault('bad_request', 'Only messages that the model receives can be pinned.', { message }))
  }
  const { tokens } = found
  const pinned = state.pins.reduce((sum, pin) => sum + pin.tokens, tokens)
  const tokensMax = Math.floor((facts.contextTokens ?? limits.contextTokens) * limits.pinnedPart)
  if (pinned > tokensMax || state.pins.length >= limits.pinsMax) {
    const text = `Pins may fill ${limits.pinnedPart * 100} % of the model's context (${tokensMax} tokens) with ${limits.pinsMax} messages. Unpin another first.`
    return refuse(fault('context_too_large', text, { tokens: pinned, tokensMax }))
  }
  return ok([{ type: 'message.pinned', message, pinned: true, tokens }])
}

export function toggleToolCollapse(state: SessionState, message: MessageId, facts: Facts): Decided {
  if (!facts.message?.isCall) return refuse(notFound(message))
  const { all, except } = state.collapse
  return ok([{ type: 'message.collapsed', message, collapsed: all === except.includes(message) }])
}

/** Expands all calls if any is collapsed; otherwise collapses all. */
export function toggleAllToolCollapses(
  { collapse }: SessionState,
  { isAnyCollapsed = collapse.all || collapse.except.length > 0 }: Facts,
): Events {
  return [{ type: 'message.collapsed', message: null, collapsed: !isAnyCollapsed }]
}

export function addSystemMessage(state: SessionState, text: string, level: 'info' | 'error'): Decided {
  if (text.trim() === '') return refuse(fault('empty_prompt', 'The message is empty. Write some text.'))
  return ok([{ type: 'note.added', turn: turnNow(state), kind: 'system', level, text }])
}

/** Returns the turn for a message outside any turn: the running one, or the last. */
export const turnNow = ({ turn, turns }: SessionState): TurnNumber =>
  turn.phase === 'idle' ? TurnNumber.parse(Math.max(turns - 1, 0)) : turn.number

/** Records a client's own event. It is not part of the line, and no model sees it. */
export const appendClientEvent = ({ event, complete }: AppendClientEvent): Events => [
  { type: 'client.said', event, ...(complete && { complete: true as const }) },
]
