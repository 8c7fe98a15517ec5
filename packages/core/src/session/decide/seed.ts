import {
  CallId,
  type Event,
  fault,
  ok,
  refuse,
  type SeedMessage,
  type SeedMessages,
  StepId,
  TurnNumber,
} from '@holdfast/protocol'
import type { Decided } from '../input.ts'
import type { AwaitedCall } from '../state.ts'
import { settle } from './call.ts'

type From = {
  readonly seq: number
  readonly turns: number
  /** Calls of earlier messages whose result may be among these. */
  readonly awaited?: readonly AwaitedCall[] | undefined
}
type Open = { readonly call: CallId; readonly isGiven: boolean }

/** The provider of seeded messages: none of ours, so no opaque data is ever sent back with them. */
const provider = 'seed'

/**
 * Returns the events that add messages from elsewhere after the end of a line: each user message begins a turn, each
 * call is settled at once. A program that leads the conversation sends messages one by one: they continue the last
 * turn, and calls wait for results. Refused when a result matches no call.
 */
export function seed(from: From, messages: SeedMessages): Decided {
  const events: Event[] = []
  const open = new Map<string, Open>((from.awaited ?? []).map(({ call, id }) => [id, { call, isGiven: true }]))
  const isGoingOn = messages[0]?.given !== undefined && messages[0].role !== 'user' && from.turns > 0
  let turn = TurnNumber.parse(isGoingOn ? from.turns - 1 : from.turns)
  let isTaken = isGoingOn
  let isOpen = false
  const next = () => from.seq + events.length + 1

  const closeCalls = (isLeft: (call: Open) => boolean = () => false) => {
    for (const [id, one] of open) {
      if (isLeft(one)) continue
      events.push(settle(one.call, { type: 'interrupted', code: 'cancelled' }))
      open.delete(id)
    }
  }
  const endTurn = () => {
    if (isOpen) events.push({ type: 'turn.ended', turn, reason: 'done' })
    if (isTaken) turn = TurnNumber.parse(turn + 1)
    isTaken = false
    isOpen = false
  }
  const beginTurn = () => {
    if (!isOpen) events.push({ type: 'turn.started', turn, cause: 'seed' })
    isTaken = true
    isOpen = true
  }
  /** Adds the message as given before the events it means here. */
  const withGiven = ({ given }: SeedMessage, add: () => void) => {
    if (given === undefined || Object.keys(given).length === 0) return add()
    const index = events.length
    const record = { type: 'message.given', turn, message: given, records: 0 } as const
    events.push(record)
    add()
    events[index] = { ...record, records: events.length - index - 1 }
  }

  for (const [index, message] of messages.entries()) {
    const { content } = message
    if (message.role !== 'tool') closeCalls(message.role === 'system' && message.given ? isAwaited : undefined)
    if (message.role === 'user') {
      endTurn()
      beginTurn()
      withGiven(message, () => events.push({ type: 'user.said', turn, content: [{ type: 'text', text: content }] }))
    } else if (message.role === 'assistant') {
      const { toolCalls = [], given } = message
      const twice = toolCalls.find(({ id }, at) => toolCalls.findIndex((one) => one.id === id) < at)
      if (twice)
        return refuse(
          fault('bad_request', `Message ${index} has two calls with the id ${twice.id}. Each call needs its own id.`),
        )
      beginTurn()
      withGiven(message, () => {
        const step = StepId.parse(next())
        if (content !== '') events.push({ type: 'text.said', turn, step, text: content, provider })
        for (const { id, tool, args } of toolCalls) {
          open.set(id, { call: CallId.parse(next()), isGiven: given !== undefined })
          const named = given !== undefined && { givenId: id }
          events.push({ type: 'call.requested', turn, step, tool, args, provider, ...named })
        }
      })
    } else if (message.role === 'system') {
      withGiven(message, () => events.push(note(turn, content, message.given !== undefined)))
    } else {
      const { toolCallId } = message
      const answered = open.get(toolCallId)
      if (answered === undefined && message.given === undefined) {
        const text = `Message ${index} answers call ${toolCallId}, but the assistant message before it has no such call.`
        return refuse(fault('bad_request', text, { message: index }))
      }
      open.delete(toolCallId)
      const type = message.isError ? 'failed' : 'ok'
      withGiven(message, () =>
        events.push(
          // A result without a call is shown to people only: no service accepts it.
          answered ? settle(answered.call, { type, output: { text: content } }) : note(turn, content, false),
        ),
      )
    }
  }
  closeCalls(isAwaited)
  endTurn()
  return ok(events)
}

const isAwaited = ({ isGiven }: Open): boolean => isGiven

const note = (turn: TurnNumber, text: string, isForModel: boolean): Event => ({
  ...{ type: 'note.added', turn, kind: 'system', level: 'info', text },
  ...(isForModel && { told: true }),
})
