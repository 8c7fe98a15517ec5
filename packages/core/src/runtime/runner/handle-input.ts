import {
  type Answer,
  type createSerialQueue,
  errorMessage,
  type Fault,
  fault,
  HoldfastError,
  ok,
  payerOf,
  type Recorded,
  type Result,
  refuse,
  type Seq,
  type SessionId,
  type Submission,
} from '@holdfast/protocol'
import { ownSlice } from '../../ports/own-slice.ts'
import type { EncodedRecord } from '../../ports/store/log.ts'
import { decide } from '../../session/decide.ts'
import type { Input, Report } from '../../session/input.ts'
import { type Effect, plan } from '../../session/plan.ts'
import type { SessionState } from '../../session/state.ts'
import { answerOf } from '../../session/view.ts'
import type { EffectDeps, RuntimeDeps, Subagents } from '../dependencies.ts'
import type { createPerformer } from '../effects/performer.ts'
import { canPrepareEarly, lookAhead } from '../effects/prepare-step.ts'
import { changesWindow } from '../effects/step-request.ts'
import { encodeAppend } from '../log/encode-append.ts'
import type { createSnapshotAutosave, Folded, LoadedSession } from '../log/load-session.ts'
import { type StorageHealth, withNotAccepted } from '../storage-health.ts'
import type { Hub } from '../stream/hub.ts'
import type { createAbortTurn } from './abort-turn.ts'
import type { createArrivalOrder } from './arrival-order.ts'
import { cancelForeseen, createForesight, type ForeseenCall, keepForeseen } from './foresee-call.ts'
import type { createHookNotices } from './hook-notices.ts'
import { type createUnrecorded, findReuse, hashCommand } from './same-command.ts'
import type { createSideWork } from './side-work.ts'

export type RunnerOptions = {
  readonly id: SessionId
  readonly epoch: number
  /** With the store and the blobs of the session. */
  readonly deps: RuntimeDeps
  readonly loaded: LoadedSession
  readonly storageHealth: StorageHealth
  /** Creates the session that the fork record at `seq` names, if it does not exist yet. */
  readonly fork: (from: Folded, seq: Seq) => Promise<Result<unknown>>
  readonly subagents?: Subagents | undefined
  /** Called with each batch of records, once it is folded. */
  readonly onRecords?: ((state: SessionState, records: readonly Recorded[]) => void) | undefined
  /** Called after each record and each change of the attached clients. */
  readonly onChange: () => void
  /** Called when the session can no longer be written here; the registry forgets it. */
  readonly onAbandoned: (fault: Fault) => void
}

/** A session that runs here: its folds, and the parts that write, publish and perform what follows from them. */
export type RunningSession = {
  readonly options: RunnerOptions
  /** The folds as of the last durable record. */
  folded: Folded
  /** Why no input is accepted any more; null while inputs are. */
  closed: Fault | null
  /** Why the session takes no input until it is loaded again; null while it works. */
  suspended: Fault | null
  /** Whether what calls did to files is still recorded, although no other input is accepted: their work is ending. */
  isEnding: boolean
  /** The model call that was started while the prompt was being written; null once its step is decided. */
  foreseen: ForeseenCall | null
  /** The mailbox: runs work after all work that was put in before. */
  readonly enqueue: ReturnType<typeof createSerialQueue>
  readonly arrivals: ReturnType<typeof createArrivalOrder>
  readonly hub: Hub
  readonly effects: EffectDeps
  readonly performer: ReturnType<typeof createPerformer>
  readonly snapshots: ReturnType<typeof createSnapshotAutosave>
  readonly sideWork: ReturnType<typeof createSideWork>
  readonly aborting: ReturnType<typeof createAbortTurn>
  readonly notices: ReturnType<typeof createHookNotices>
  readonly unrecorded: ReturnType<typeof createUnrecorded>
}

/** When a client may follow a session again that left this process, cannot be opened now, or has an owner that does not answer. */
export const retryMs = 500

/**
 * Handles one input; call it inside the mailbox. A throw is our bug: the session stops before a false record is
 * written, and is restarted.
 */
export async function handleInput(session: RunningSession, input: Input): Promise<Result<Answer>> {
  try {
    return await applyInput(session, input)
  } catch (cause) {
    if (cause instanceof HoldfastError) return refuse(cause.toFault())
    const { id, deps } = session.options
    deps.onProblem({ where: `session ${id}`, cause })
    const broken = fault('internal', `The session broke: ${errorMessage(cause)}`)
    abandon(session, broken)
    return refuse(broken)
  }
}

/** Records what was done, and keeps trying while the disk refuses. */
export function report(session: RunningSession, input: Report): Promise<Result<Answer>> {
  return session.effects.storage.insist(() => session.enqueue(() => handleInput(session, input)))
}

/**
 * Records what an effect did. If the store refuses that for good, the session is restarted: nobody would report it again, and
 * the turn would wait for it for ever.
 */
export async function reportWork(session: RunningSession, input: Report): Promise<Result<Answer>> {
  const reported = await report(session, input)
  const message = reported.ok ? null : `The session could not record its work: ${reported.fault.message}`
  if (message !== null)
    await session.enqueue(
      async () => session.closed ?? session.suspended ?? abandon(session, fault('internal', message)),
    )
  return reported
}

/** Decides, appends, folds, publishes, performs: the only way a session changes. */
async function applyInput(session: RunningSession, input: Input): Promise<Result<Answer>> {
  const isLate = input.type === 'files.found' || input.type === 'hooks.ran'
  if (session.closed && !(session.isEnding && isLate)) return refuse(session.closed)
  if (session.suspended) return refuse(session.suspended)
  const { id, epoch, deps, onChange } = session.options
  const { state } = session.folded
  const sent = input.type === 'command' ? input : null
  const reuse = sent && session.unrecorded.findReuse(sent)
  if (reuse) return refuse(reuse)
  const decision = decide(state, input)
  if (!decision.ok) return firstAnswer(session, sent, decision)
  const events = decision.value
  const nothingNew = ok({ seq: state.seq, result: {} })
  if (events.length === 0) {
    const before = sent && (await answerBefore(session, sent))
    if (sent && before === null) session.unrecorded.remember(sent)
    return before ?? nothingNew
  }

  const payer = sent ? payerOf(sent.person) : state.payer
  const batch = { atMs: deps.clock.now(), events, commandId: sent?.commandId ?? null, by: sent?.by ?? null, payer }
  const { append, next } = encodeAppend({ session: id, epoch, folded: session.folded }, batch)
  const planned = plan(next.state)
  const appending = deps.store.append(sent ? { ...append, commandHash: hashCommand(sent.command) } : append)
  const early =
    keepForeseen(session, next.state, planned, appending) ??
    startEarly(session, next, planned, append.records, appending, sent?.facts.isUnderCaps)
  const appended = await appending
  session.effects.storage.track(appended)
  if (!appended.ok) {
    session.performer.cancelEarly(early)
    cancelForeseen(session)
    return refusedAppend(session, input, appended)
  }

  session.folded = next
  session.effects.recent?.add(id, append.records)
  if (next.state.turn.phase !== 'thinking') session.effects.answer = null // its text is on record now
  const { records } = append
  session.hub.publish(records) // only after the append: no client may see a record that a crash could lose
  deps.observer?.recorded?.(id, records)
  for (const { record } of records)
    if (record.event.type === 'question.answered')
      session.effects.questions.get(record.event.call)?.(record.event.reply)
  session.performer.reconcile(session.closed || session.suspended ? [] : planned)
  if (next.state.turn.phase === 'idle') session.aborting.pending.submission = null
  session.snapshots.afterChange(next)
  const plain = records.map(({ record }) => record)
  session.notices.afterRecords(plain)
  session.options.onRecords?.(next.state, plain)
  onChange()
  return records[0] ? ok(answerOf(records[0].record)) : nothingNew
}

/** Begins what may begin while records are being written. Returns the keys of the effects that started. */
function startEarly(
  session: RunningSession,
  next: Folded,
  planned: readonly Effect[],
  records: readonly EncodedRecord[],
  recorded: Promise<unknown>,
  isUnderCaps: boolean | undefined,
): readonly string[] {
  const { folded, closed, effects, performer, options } = session
  const { state } = next
  // A write that the disk refuses is repeated, and must not call the model each time.
  const isSafe = closed === null && effects.storage.error === null
  if (folded.state.turn.phase !== 'preparing') {
    if (folded.state.turn.phase === 'idle' && isSafe && canPrepareEarly(effects, state)) {
      const foresee = createForesight(session, next, { records, written: recorded })
      return performer.startEarly(planned, 'prepare-step', { state, recorded, foresee, isUnderCaps })
    }
    effects.stepContext.forget()
    // In a slice of its own, so that the records are on their way first. Once they are written, the step reads by itself.
    ownSlice()
      .then(() => session.folded === folded && lookAhead(effects, state, planned))
      .catch((cause) => options.deps.onProblem({ where: `session ${options.id}`, cause }))
    return []
  }
  if (!isSafe || changesWindow(records)) return []
  // Nothing of them is part of the request, so nothing waits for them.
  const writing = { records, written: Promise.resolve() }
  return performer.startEarly(planned, 'call-model', { state, recorded, writing })
}

/** Returns the first answer to a command that was sent before; call it only where the command writes nothing now. */
export async function firstAnswer(
  session: RunningSession,
  sent: Pick<Submission, 'commandId' | 'command'> | null,
  otherwise: Result<Answer>,
): Promise<Result<Answer>> {
  return (sent && (await answerBefore(session, sent))) ?? otherwise
}

/** Returns the answer to a command that was accepted before; null if it was not. Refused: command_id_reused. */
export async function answerBefore(
  { options: { id, deps }, unrecorded }: Pick<RunningSession, 'options' | 'unrecorded'>,
  sent: Pick<Submission, 'commandId' | 'command'>,
): Promise<Result<Answer> | null> {
  const other = unrecorded.findReuse(sent)
  if (other) return refuse(other)
  const first = await deps.store.findCommand(id, sent.commandId)
  if (first === null) return null
  const reuse = await findReuse(deps.store, id, sent, first)
  return reuse ? refuse(reuse) : ok(answerOf(first))
}

const logAhead = fault('log_moved', 'The log has records that its session does not know. Send the command again.')

async function refusedAppend(
  session: RunningSession,
  input: Input,
  refusal: Extract<Result<void>, { ok: false }>,
): Promise<Result<Answer>> {
  session.effects.stepContext.forget()
  const { code } = refusal.fault
  if (code === 'command_seen' && input.type === 'command') {
    const answer = await firstAnswer(session, input, refusal)
    // It was recorded although its append was refused, and what it began does not run yet.
    if (answer.ok && answer.value.seq > session.folded.state.seq) abandon(session, logAhead)
    return answer
  }
  if (code === 'fenced' || code === 'log_moved' || code === 'session_not_found') abandon(session, refusal.fault)
  if (code !== 'storage_error') return refusal
  // A batch can reach the disk although the disk reported an error: then the log is ahead of our state.
  const row = await session.options.deps.store.entry(session.options.id).catch(() => null)
  const isBehind = row !== null && row.head > session.folded.state.seq
  if (isBehind) abandon(session, logAhead)
  else if (input.type === 'command' && input.command.type !== 'abort') return refuse(withNotAccepted(refusal.fault))
  return refusal
}

/** Gives up the session: another process owns it, it is gone, or our own code broke. */
function abandon(session: RunningSession, reason: Fault): void {
  session.closed = reason
  session.isEnding = false
  session.effects.storage.leave()
  session.sideWork.end()
  session.performer.reconcile([])
  endStreams(session, 'failed', retryMs)
  session.options.onAbandoned(reason)
}

/** Gives up a session that another process took over. Does nothing if it is given up already. */
export function loseToOther(session: RunningSession): void {
  const message = 'Another process took over this session while this one did not answer.'
  if (session.closed === null) abandon(session, fault('fenced', message))
}

const cannotRenew = fault('storage_error', 'This node has lost the database, so the work of the session was stopped.', {
  reason: 'unreachable',
  retryAfterSeconds: 1,
})

/** Aborts all work and refuses every input, because another node may take the session over soon. */
export function suspend(session: RunningSession): void {
  if (session.closed || session.suspended) return
  session.suspended = withNotAccepted(cannotRenew)
  // Shown to all who watch, and they sent no command.
  session.effects.storage.track(refuse(cannotRenew))
  session.sideWork.end()
  session.performer.interrupt()
}

/** Loads a suspended session again: its log says what became of it. */
export function loadAgain(session: RunningSession): void {
  if (session.closed || !session.suspended) return
  abandon(session, fault('log_moved', 'The session was stopped while its node had no database. It is loaded again.'))
}

/** Ends the streams of all subscribers and reports to the observer that the session left this process. */
export function endStreams({ options: { id, deps }, hub }: RunningSession, ...why: Parameters<Hub['end']>): void {
  hub.end(...why)
  deps.observer?.left?.(id)
}
