import {
  CallId,
  type Event,
  type Fault,
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
type MessageOf<Role extends SeedMessage['role']> = Extract<SeedMessage, { readonly role: Role }>
type Open = { readonly call: CallId; readonly isGiven: boolean }

/** The provider of seeded messages: none of ours, so no opaque data is ever sent back with them. */
const provider = 'seed'

/** The events so far, and what the next message continues. */
type Seeding = {
  readonly firstSeq: number
  readonly events: Event[]
  /** The calls without a result, by the id that the messages give them. */
  readonly open: Map<string, Open>
  turn: TurnNumber
  /** Whether a message has this turn number already. */
  isTaken: boolean
  /** Whether the turn was started by these messages. */
  isOpen: boolean
}

/**
 * Returns the events that add messages from elsewhere after the end of a line: each user message begins a turn, each
 * call is settled at once. A program that leads the conversation sends messages one by one: they continue the last
 * turn, and calls wait for results. Refused when a result matches no call.
 */
export function seed(from: From, messages: SeedMessages): Decided {
  const continues = messages[0]?.given !== undefined && messages[0].role !== 'user' && from.turns > 0
  const seeding: Seeding = {
    firstSeq: from.seq + 1,
    events: [],
    open: new Map((from.awaited ?? []).map(({ call, id }) => [id, { call, isGiven: true }])),
    turn: TurnNumber.parse(continues ? from.turns - 1 : from.turns),
    isTaken: continues,
    isOpen: false,
  }
  for (const [index, message] of messages.entries()) {
    const refusal = addMessage(seeding, message, index)
    if (refusal) return refuse(refusal)
  }
  closeCalls(seeding, isAwaited)
  endTurn(seeding)
  return ok(seeding.events)
}

function addMessage(seeding: Seeding, message: SeedMessage, index: number): Fault | null {
  const { role, given } = message
  if (role !== 'tool') closeCalls(seeding, role === 'system' && given ? isAwaited : () => false)
  if (role === 'assistant') return addAnswer(seeding, message, index)
  if (role === 'tool') return addResult(seeding, message, index)
  if (message.role === 'user') {
    const { content } = message
    endTurn(seeding)
    beginTurn(seeding)
    const { events, turn } = seeding
    const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
    withGiven(seeding, given, () => events.push({ type: 'user.said', turn, content: parts }))
  } else {
    const { content, level } = message
    withGiven(seeding, given, () => seeding.events.push(note(seeding.turn, content, given !== undefined, level)))
  }
  return null
}

function addAnswer(seeding: Seeding, message: MessageOf<'assistant'>, index: number): Fault | null {
  const { content, thinking = '', toolCalls = [], given } = message
  const twice = toolCalls.find(({ id }, at) => toolCalls.findIndex((one) => one.id === id) < at)
  if (twice)
    return fault('bad_request', `Message ${index} has two calls with the id ${twice.id}. Each call needs its own id.`)
  beginTurn(seeding)
  const { events, open, turn } = seeding
  const nextSeq = () => seeding.firstSeq + events.length
  withGiven(seeding, given, () => {
    const step = StepId.parse(nextSeq())
    if (thinking !== '') events.push({ type: 'thinking.said', turn, step, text: thinking, provider })
    if (content !== '') events.push({ type: 'text.said', turn, step, text: content, provider })
    for (const { id, tool, args } of toolCalls) {
      open.set(id, { call: CallId.parse(nextSeq()), isGiven: given !== undefined })
      const named = given !== undefined && { givenId: id }
      events.push({ type: 'call.requested', turn, step, tool, args, provider, ...named })
    }
  })
  return null
}

function addResult(seeding: Seeding, message: MessageOf<'tool'>, index: number): Fault | null {
  const { toolCallId, content, given, isError } = message
  const { events, open, turn } = seeding
  const answered = open.get(toolCallId)
  if (answered === undefined && given === undefined) {
    const text = `Message ${index} answers call ${toolCallId}, but the assistant message before it has no such call.`
    return fault('bad_request', text, { message: index })
  }
  open.delete(toolCallId)
  const type = isError ? 'failed' : 'ok'
  withGiven(seeding, given, () =>
    events.push(
      // A result without a call is shown to people only: no service accepts it.
      answered ? settle(answered.call, { type, output: { text: content } }) : note(turn, content, false),
    ),
  )
  return null
}

/** Adds the message as given before the events it means here. */
function withGiven({ events, turn }: Seeding, given: SeedMessage['given'], add: () => void): void {
  if (given === undefined || Object.keys(given).length === 0) {
    add()
    return
  }
  const index = events.length
  const record = { type: 'message.given', turn, message: given, records: 0 } as const
  events.push(record)
  add()
  events[index] = { ...record, records: events.length - index - 1 }
}

function beginTurn(seeding: Seeding): void {
  if (!seeding.isOpen) seeding.events.push({ type: 'turn.started', turn: seeding.turn, cause: 'seed' })
  seeding.isTaken = true
  seeding.isOpen = true
}

function endTurn(seeding: Seeding): void {
  if (seeding.isOpen) seeding.events.push({ type: 'turn.ended', turn: seeding.turn, reason: 'done' })
  if (seeding.isTaken) seeding.turn = TurnNumber.parse(seeding.turn + 1)
  seeding.isTaken = false
  seeding.isOpen = false
}

/** Settles the open calls as interrupted, except those that are left open. */
function closeCalls({ events, open }: Seeding, isLeft: (call: Open) => boolean): void {
  for (const [id, one] of open) {
    if (isLeft(one)) continue
    events.push(settle(one.call, { type: 'interrupted', code: 'cancelled' }))
    open.delete(id)
  }
}

const isAwaited = ({ isGiven }: Open): boolean => isGiven

const note = (turn: TurnNumber, text: string, isForModel: boolean, level: 'info' | 'error' = 'info'): Event => ({
  type: 'note.added',
  turn,
  kind: 'system',
  level,
  text,
  ...(isForModel && { told: true }),
})
