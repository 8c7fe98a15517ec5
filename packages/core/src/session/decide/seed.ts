import {
  CallId,
  type Event,
  fault,
  type Outcome,
  ok,
  type Result,
  refuse,
  type SeedMessage,
  type SeedMessages,
  StepId,
  TurnNumber,
} from '@holdfast/protocol'

type From = { readonly seq: number; readonly turns: number }
type Answered = Extract<SeedMessage, { role: 'tool' }>

/** Who wrote what came from elsewhere: no provider of ours, so nothing opaque is ever sent back with it. */
const provider = 'seed'

/**
 * The events that put messages from elsewhere on the line, as if they had been said here: each user message begins a turn,
 * each call is settled at once. `from` is where the line stands. Refused when a result answers no call.
 */
export function seed(from: From, messages: SeedMessages): Result<readonly Event[]> {
  const events: Event[] = []
  const open = new Map<string, CallId>()
  let turn = TurnNumber.parse(from.turns)
  let isOpen = false
  const next = () => from.seq + events.length + 1

  const closeCalls = () => {
    for (const call of open.values()) events.push(settled(call, { type: 'interrupted', code: 'cancelled' }))
    open.clear()
  }
  const endTurn = () => {
    closeCalls()
    if (!isOpen) return
    events.push({ type: 'turn.ended', turn, reason: 'done' })
    turn = TurnNumber.parse(turn + 1)
    isOpen = false
  }
  const beginTurn = () => {
    if (!isOpen) events.push({ type: 'turn.started', turn, cause: 'seed' })
    isOpen = true
  }

  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool') closeCalls()
    if (message.role === 'user') {
      endTurn()
      beginTurn()
      events.push({ type: 'user.said', turn, content: [{ type: 'text', text: message.content }] })
    } else if (message.role === 'assistant') {
      beginTurn()
      const step = StepId.parse(next())
      if (message.content !== '') events.push({ type: 'text.said', turn, step, text: message.content, provider })
      for (const { id, tool, args } of message.toolCalls ?? []) {
        if (open.has(id)) return refuse(fault('bad_request', `Message ${index} asks for the call ${id} twice.`))
        open.set(id, CallId.parse(next()))
        events.push({ type: 'call.requested', turn, step, tool, args, provider })
      }
    } else if (message.role === 'system') {
      events.push({ type: 'note.added', turn, kind: 'system', level: 'info', text: message.content })
    } else {
      const call = open.get(message.toolCallId)
      if (call === undefined) return refuse(fault('bad_request', orphan(index, message), { message: index }))
      open.delete(message.toolCallId)
      const output = { text: message.content }
      events.push(settled(call, { type: message.isError ? 'failed' : 'ok', output }))
    }
  }
  endTurn()
  return ok(events)
}

const orphan = (index: number, { toolCallId }: Answered): string =>
  `Message ${index} answers the call ${toolCallId}, which the assistant message before it did not ask for.`

const settled = (call: CallId, outcome: Outcome): Event => ({ type: 'call.settled', call, outcome, durationMs: null })
