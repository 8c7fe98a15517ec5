import {
  CallId,
  type Event,
  fault,
  ok,
  type Result,
  refuse,
  type SeedMessage,
  type SeedMessages,
  StepId,
  TurnNumber,
} from '@holdfast/protocol'
import type { AwaitedCall } from '../state.ts'
import { settledAs } from './derived-events.ts'

type From = {
  readonly seq: number
  readonly turns: number
  /** Calls of earlier messages whose result may be among these. */
  readonly awaited?: readonly AwaitedCall[] | undefined
}
type Answered = Extract<SeedMessage, { role: 'tool' }>
type Open = { readonly call: CallId; readonly isGiven: boolean }

/** The provider of seeded messages: none of ours, so no opaque data is ever sent back with them. */
const provider = 'seed'

/**
 * Returns the events that add messages from elsewhere to the line: each user message begins a turn, each call is
 * settled at once. Refused when a result matches no call. `from` is the end of the line. A program that leads the
 * conversation sends messages one by one: they continue the last turn, and calls wait for results.
 */
export function seed(from: From, messages: SeedMessages): Result<readonly Event[]> {
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
      events.push(settledAs(one.call, { type: 'interrupted', code: 'cancelled' }))
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
  const keeping = ({ given }: SeedMessage, add: () => void) => {
    if (given === undefined || Object.keys(given).length === 0) return add()
    const place = events.length
    const kept = { type: 'message.given', turn, message: given, records: 0 } as const
    events.push(kept)
    add()
    events[place] = { ...kept, records: events.length - place - 1 }
  }

  for (const [index, message] of messages.entries()) {
    const { content } = message
    if (message.role !== 'tool') closeCalls(message.role === 'system' && message.given ? isAwaited : undefined)
    if (message.role === 'user') {
      endTurn()
      beginTurn()
      keeping(message, () => events.push({ type: 'user.said', turn, content: [{ type: 'text', text: content }] }))
    } else if (message.role === 'assistant') {
      const { toolCalls = [], given } = message
      const twice = toolCalls.find(({ id }, place) => toolCalls.findIndex((one) => one.id === id) < place)
      if (twice) return refuse(fault('bad_request', `Message ${index} asks for the call ${twice.id} twice.`))
      beginTurn()
      keeping(message, () => {
        const step = StepId.parse(next())
        if (content !== '') events.push({ type: 'text.said', turn, step, text: content, provider })
        for (const { id, tool, args } of toolCalls) {
          open.set(id, { call: CallId.parse(next()), isGiven: given !== undefined })
          const named = given !== undefined && { givenId: id }
          events.push({ type: 'call.requested', turn, step, tool, args, provider, ...named })
        }
      })
    } else if (message.role === 'system') {
      const told = message.given !== undefined && { told: true as const }
      keeping(message, () => events.push(noted(turn, content, told)))
    } else {
      const answered = open.get(message.toolCallId)
      if (answered === undefined && message.given === undefined)
        return refuse(fault('bad_request', orphan(index, message), { message: index }))
      open.delete(message.toolCallId)
      const type = message.isError ? 'failed' : 'ok'
      keeping(message, () =>
        events.push(
          // A result without a call is shown to people only: no service accepts it.
          answered ? settledAs(answered.call, { type, output: { text: content } }) : noted(turn, content, false),
        ),
      )
    }
  }
  closeCalls(isAwaited)
  endTurn()
  return ok(events)
}

const isAwaited = ({ isGiven }: Open): boolean => isGiven

const noted = (turn: TurnNumber, text: string, told: { readonly told: true } | false): Event => ({
  ...{ type: 'note.added', turn, kind: 'system', level: 'info', text },
  ...told,
})

const orphan = (index: number, { toolCallId }: Answered): string =>
  `Message ${index} answers the call ${toolCallId}, which the assistant message before it did not ask for.`
