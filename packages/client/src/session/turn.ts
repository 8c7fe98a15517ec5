import {
  type CommandOptions,
  type CommandResult,
  fault,
  HoldfastError,
  type ModelFault,
  noUsage,
  orThrow,
  type Queue,
  type SessionHandle,
  type TurnEnd,
  type Usage,
} from '@holdfast/protocol'
import { readOptions } from './arguments.ts'
import { createTurnItems, type TurnItem } from './turn-items.ts'
import { createTurnSummary, type TurnSummary } from './turn-summary.ts'

/** How a turn ended. */
export type TurnResult = {
  /** The answer: what the model said last. What it said before a tool call is not part of it. */
  readonly text: string
  /** Why the turn ended: `done`, or what stopped it. `done` too if another prompt joined after the answer. */
  readonly reason: TurnEnd
  /** Usage of the model calls from the prompt to its answer. An unknown cost is null. */
  readonly usage: Usage
  /** The seq of the last record, to follow the session from there. */
  readonly seq: number
  /** The number of the turn, counted from 0. */
  readonly turn: number
  /** Why the model call failed, if `reason` is `failed`. */
  readonly fault?: ModelFault | undefined
  /**
   * The queue in which the prompt still waits, if it was not sent: the turn before it was cut short, and `reason`,
   * `fault` and `turn` are of that turn. The next prompt or `continue` sends it; `turn.abort()` removes it.
   */
  readonly queued?: Queue | undefined
  /** The built-in slash command that ran, if the prompt was one: then there was no turn, and `turn` is 0. */
  readonly ran?: string | undefined
}

/**
 * The turn of a prompt, from where the prompt is sent to the model to its answer. Another prompt that joins before there
 * is an answer shares it. One that joins later gets an answer of its own, and this turn ends before it. Iterate the turn
 * for what happens, as often as needed: each iteration starts at the prompt, and its last item is `end`, which says how
 * the turn ended. A turn that fails or is aborted ends so too and throws nothing. All of these throw a refusal.
 */
export interface Turn extends AsyncIterable<TurnItem> {
  /** Waits until the prompt is accepted and on disk, and says where it went. */
  readonly accepted: Promise<CommandResult<'sendPrompt'>>
  /** Waits for the end and returns the answer: what the model said last. Throws `turn_failed` if the model call failed. */
  text(): Promise<string>
  /** Waits for the end and returns how the turn ended. */
  result(): Promise<TurnResult>
  /** Stops this turn and no other. A prompt that still waits in a queue is removed from it. */
  abort(): Promise<void>
}

/** Options of a command that has a turn. */
export type TurnOptions = CommandOptions & {
  /** Aborts the turn. If it is aborted before the command is sent, nothing is sent. */
  readonly signal?: AbortSignal | undefined
}

/** What a turn needs of its session: it sends commands in the name of its client, and follows the session without a name. */
export type FollowedHandle = Pick<SessionHandle, 'submit' | 'subscribe'>

/** Sends the command of a turn and returns the turn. `moreOptions` names the options of the command itself. */
export function createTurn(
  handle: FollowedHandle,
  send: (options: CommandOptions) => Promise<CommandResult<'sendPrompt'>>,
  options?: TurnOptions,
  moreOptions: readonly string[] = [],
): Turn {
  const { signal: given, as, commandId }: TurnOptions = { ...options }
  const signal = given instanceof AbortSignal ? given : undefined
  const sendUnlessAborted = async () => {
    readOptions(options, ['as', 'commandId', 'signal', ...moreOptions])
    if (given !== signal) throw new HoldfastError(fault('bad_request', 'The option signal must be an AbortSignal.'))
    signal?.throwIfAborted()
    return send({ as, commandId })
  }
  const accepted = sendUnlessAborted()
  let ended: Promise<TurnResult> | null = null
  accepted.catch(() => undefined) // thrown to everyone who reads the turn

  async function* items(): AsyncGenerator<TurnItem, TurnResult> {
    const { seq, ran } = await accepted
    const result = ran === undefined ? yield* followTurn(handle, seq) : yield* endAtOnce(seq, ran)
    signal?.removeEventListener('abort', onAbort)
    ended ??= Promise.resolve(result)
    return result
  }
  const result = () => {
    ended ??= lastOf(items())
    return ended
  }
  const abort = async () => {
    const { seq, ran } = await accepted
    if (ran !== undefined) return
    const before = await readTurn(handle, seq)
    if (before.turn === null) {
      const removed = await handle.submit({ type: 'removeQueueEntry', entry: seq }, { as })
      if (removed.ok || removed.fault.code !== 'queue_entry_not_found') return void orThrow(removed)
    }
    // A prompt that is no longer in the queue was sent meanwhile.
    const { turn, end, isAnswered } = before.turn === null ? await readTurn(handle, seq) : before
    if (turn === null || end || isAnswered) return
    orThrow(await handle.submit({ type: 'abort', turn }, { as }))
  }
  const onAbort = () => void abort().catch(() => undefined) // the turn then ends as it would without it
  signal?.addEventListener('abort', onAbort)

  return {
    accepted,
    [Symbol.asyncIterator]: items,
    result,
    async text() {
      const { text, reason, fault: why } = await result()
      if (reason === 'failed') throw new HoldfastError(fault('turn_failed', why?.message ?? failed, { ...why, text }))
      return text
    },
    abort,
  }
}

const failed = 'The turn failed.'

async function lastOf(items: AsyncGenerator<TurnItem, TurnResult>): Promise<TurnResult> {
  for (;;) {
    const next = await items.next()
    if (next.done) return next.value
  }
}

/** Ends the turn of a built-in slash command, which has run and has none. */
async function* endAtOnce(seq: number, ran: string): AsyncGenerator<TurnItem, TurnResult> {
  yield { type: 'end', reason: 'done' }
  return { text: '', reason: 'done', usage: noUsage, seq, turn: 0, ran }
}

/** Yields the items of the turn that the command with this first record asked for, and returns how it ended. */
async function* followTurn(handle: FollowedHandle, first: number): AsyncGenerator<TurnItem, TurnResult> {
  const summary = createTurnSummary(({ seq }) => seq === first)
  const toItems = createTurnItems()
  for await (const frame of handle.subscribe({ after: first - 1 })) {
    if (frame.type === 'record') summary.add(frame.record)
    if (summary.isRemoved) throw new HoldfastError(removed)
    if (summary.turn !== null) yield* toItems(frame)
    if (frame.type !== 'record') continue
    if (!summary.end && !summary.isAnswered) continue
    // After the answer, the next prompt begins with this record.
    const result = resultOf(summary, summary.end ? frame.record.seq : frame.record.seq - 1)
    const { reason, fault: why } = result
    yield { type: 'end', reason, ...(why && { fault: why }) }
    return result
  }
  throw new HoldfastError(stopped)
}

const removed = fault('queue_entry_not_found', 'The prompt was removed from the queue before it was sent.')
const stopped = fault('session_stopped', 'The session stopped before its turn ended.')

function resultOf({ text, usage, turn, end, queue }: TurnSummary, seq: number): TurnResult {
  const { reason = 'done', fault: why } = end ?? {}
  const of = turn ?? end?.turn ?? 0
  return { text, reason, usage, seq, turn: of, ...(why && { fault: why }), ...(queue && { queued: queue }) }
}

/** Returns how far the turn has come, without waiting for more. */
async function readTurn(handle: FollowedHandle, first: number): Promise<TurnSummary> {
  const summary = createTurnSummary(({ seq }) => seq === first)
  for await (const frame of handle.subscribe({ after: first - 1 })) {
    if (frame.type !== 'record') break // all records so far were read
    summary.add(frame.record)
    if (summary.end || summary.isAnswered) break
  }
  return summary
}
