import {
  ApprovalId,
  type CallView,
  type CommandResult,
  createTranscript,
  type Frame,
  fault,
  HoldfastError,
  type Message,
  type ModelFault,
  messageOf,
  orThrow,
  type PendingApproval,
  type Recorded,
  type SessionHandle,
  type SubmitOptions,
  type TurnEnd,
  type Usage,
} from '@holdfast/protocol'
import { createTurnSummary, type TurnSummary } from './turn-summary.ts'

/** One thing that happens in a turn. */
export type TurnItem =
  /** The next fragment of the answer, or of the model's thinking. */
  | { readonly type: 'text' | 'thinking'; readonly text: string }
  /** The model asks for a tool call, which may still need an approval. */
  | { readonly type: 'tool_call'; readonly call: CallView }
  /** A call has its result, was denied or was interrupted. */
  | { readonly type: 'tool_result'; readonly call: CallView }
  /** A call waits for approval. Answer with `session.respondToApproval(decision, approval.id)`. */
  | { readonly type: 'approval'; readonly approval: PendingApproval }
  /** A message for people, such as a retry or a reached limit. */
  | {
      readonly type: 'notice'
      readonly level: 'info' | 'error'
      readonly text: string
      readonly code?: string | undefined
    }

/** How a turn ended. */
export type TurnResult = {
  /** The answer: the text of the last step that has any. */
  readonly text: string
  /** Why the turn ended: `done`, or what stopped it. */
  readonly reason: TurnEnd
  /** Usage of the model calls since the prompt. An unknown cost is null. */
  readonly usage: Usage
  /** The seq of the last record of the turn, to follow the session from there. */
  readonly seq: number
  /** The number of the turn, counted from 0. */
  readonly turn: number
  /** Why the model call failed, if `reason` is `failed`. */
  readonly fault?: ModelFault | undefined
}

/**
 * The turn of a prompt. Iterate it for what happens, as often as needed: each iteration starts at the prompt. Awaiting
 * the turn itself waits until the prompt is accepted, as with any command. All of these throw a refusal.
 */
export interface Turn extends Promise<CommandResult<'sendPrompt'>>, AsyncIterable<TurnItem> {
  /** Waits for the end and returns the answer. Throws `turn_failed` if the model call failed. */
  text(): Promise<string>
  /** Waits for the end and returns how the turn ended. */
  result(): Promise<TurnResult>
  /** Stops this turn and no other. A prompt that still waits in a queue is removed from it. */
  abort(): Promise<void>
}

/** Creates the turn of a command that was submitted. */
export function createTurn(
  handle: SessionHandle,
  accepted: Promise<CommandResult<'sendPrompt'>>,
  { as }: SubmitOptions = {},
): Turn {
  let ended: Promise<TurnResult> | null = null
  accepted.catch(() => undefined) // thrown to everyone who reads the turn

  async function* items(): AsyncGenerator<TurnItem, TurnResult> {
    const { seq } = await accepted
    const result = yield* followTurn(handle, seq)
    ended ??= Promise.resolve(result)
    return result
  }
  const result = () => {
    ended ??= lastOf(items())
    return ended
  }

  return Object.assign(accepted, {
    [Symbol.asyncIterator]: items,
    result,
    async text() {
      const { text, reason, fault: why } = await result()
      if (reason === 'failed') throw new HoldfastError(fault('turn_failed', why?.message ?? failed, { ...why, text }))
      return text
    },
    async abort() {
      const { seq } = await accepted
      const { turn, end } = await readTurn(handle, seq)
      if (end) return
      if (turn === null) {
        const removed = await handle.submit({ type: 'removeQueueEntry', entry: seq }, { as })
        if (removed.ok || removed.fault.code !== 'queue_entry_not_found') return void orThrow(removed)
      }
      orThrow(await handle.submit({ type: 'abort' }, { as }))
    },
  })
}

const failed = 'The turn failed.'

async function lastOf(items: AsyncGenerator<TurnItem, TurnResult>): Promise<TurnResult> {
  for (;;) {
    const next = await items.next()
    if (next.done) return next.value
  }
}

/** Yields the items of the turn that the command with this first record asked for, and returns how it ended. */
async function* followTurn(handle: SessionHandle, first: number): AsyncGenerator<TurnItem, TurnResult> {
  const summary = createTurnSummary(({ seq }) => seq === first)
  const toItems = createTurnItems()
  for await (const frame of handle.subscribe({ after: first - 1 })) {
    if (frame.type === 'record') summary.add(frame.record)
    if (summary.isRemoved) throw new HoldfastError(removed)
    if (summary.turn !== null) yield* toItems(frame)
    if (frame.type === 'record' && summary.end) return resultOf(summary, frame.record.seq)
  }
  throw new HoldfastError(stopped)
}

const removed = fault('queue_entry_not_found', 'The prompt was removed from the queue before it was sent.')
const stopped = fault('session_stopped', 'The session stopped before its turn ended.')

function resultOf({ text, usage, turn, end }: TurnSummary, seq: number): TurnResult {
  const { reason = 'done', fault: why } = end ?? {}
  return { text, reason, usage, seq, turn: turn ?? 0, ...(why && { fault: why }) }
}

/** Returns how far the turn has come, without waiting for more. */
async function readTurn(handle: SessionHandle, first: number): Promise<TurnSummary> {
  const summary = createTurnSummary(({ seq }) => seq === first)
  for await (const frame of handle.subscribe({ after: first - 1 })) {
    if (frame.type !== 'record') break // all records so far were read
    summary.add(frame.record)
    if (summary.end) break
  }
  return summary
}

/** Turns the frames of a turn into items. Live text comes as fragments; a record adds only the text that was not live. */
function createTurnItems(): (frame: Frame) => readonly TurnItem[] {
  const calls = createTranscript()
  const shown = { text: 0, thinking: 0 }
  const recorded = { text: 0, thinking: 0 }
  let step: number | null = null
  let index = -1

  const beginStep = (next: number) => {
    if (next === step) return
    step = next
    index = -1
    Object.assign(shown, { text: 0, thinking: 0 })
    Object.assign(recorded, { text: 0, thinking: 0 })
  }
  /** Returns what was not shown of all `text` of a kind up to position `upTo` of the step. */
  const rest = (kind: 'text' | 'thinking', text: string, upTo: number): readonly TurnItem[] => {
    const missing = upTo - shown[kind]
    if (missing <= 0) return []
    shown[kind] = upTo
    return [{ type: kind, text: text.slice(-missing) }]
  }
  const addDraft = (frame: Extract<Frame, { type: 'draft' }>) => {
    beginStep(frame.step)
    index = frame.index
    return (['thinking', 'text'] as const).flatMap((kind) => {
      const text = frame.parts.map((part) => (part.kind === kind ? part.text : '')).join('')
      return rest(kind, text, text.length)
    })
  }
  const addDelta = ({ step: of, index: at, kind, text }: Extract<Frame, { type: 'delta' }>) => {
    if (kind === 'input') return []
    beginStep(of)
    if (at <= index) return [] // the draft has it
    index = at
    return kind === 'output' ? [] : rest(kind, text, shown[kind] + text.length)
  }
  const addSaid = (kind: 'text' | 'thinking', of: number, text: string) => {
    beginStep(of)
    recorded[kind] += text.length
    return rest(kind, text, recorded[kind])
  }

  return (frame) => {
    if (frame.type === 'draft') return addDraft(frame)
    if (frame.type === 'delta') return addDelta(frame)
    if (frame.type !== 'record') return []
    const { event } = frame.record
    if (event.type === 'text.said') return addSaid('text', event.step, event.text)
    if (event.type === 'thinking.said') return addSaid('thinking', event.step, event.text)
    return itemsOf(frame.record, calls)
  }
}

/** Returns the items of a record that is not text. `calls` collects the calls of the turn. */
function itemsOf(record: Recorded, calls: ReturnType<typeof createTranscript>): readonly TurnItem[] {
  const { seq, event } = record
  const callOf = (id: number) => calls.messages.find((message) => message.id === id)
  switch (event.type) {
    case 'call.requested':
      calls.add(record)
      return callItem('tool_call', callOf(seq))
    case 'approval.asked': {
      calls.add(record)
      const { call, tool, preview, changed } = event
      const approval = { id: ApprovalId.parse(seq), call, tool, preview, ...(changed && { changed }) }
      return [{ type: 'approval', approval }]
    }
    case 'call.approved':
    case 'call.started':
      calls.add(record)
      return []
    case 'call.settled':
      calls.add(record)
      return callItem('tool_result', callOf(event.call))
    default: {
      const message = messageOf(record, null)
      if (message?.kind !== 'notice' && message?.kind !== 'system') return []
      const code = message.kind === 'notice' ? message.code : undefined
      return [{ type: 'notice', level: message.level, text: message.text, ...(code !== undefined && { code }) }]
    }
  }
}

const callItem = (type: 'tool_call' | 'tool_result', message: Message | undefined): readonly TurnItem[] =>
  message?.kind === 'tool_call' ? [{ type, call: message.call }] : []
