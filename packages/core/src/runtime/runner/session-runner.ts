import {
  type Answer,
  type Fault,
  fault,
  HoldfastError,
  ok,
  type Result,
  refuse,
  type SessionId,
  type StorageError,
  type Submission,
} from '@holdfast/protocol'
import { answerOf, decide } from '../../session/decide.ts'
import type { Input, Report } from '../../session/input.ts'
import { plan } from '../../session/plan.ts'
import { askedCalls } from '../../session/state.ts'
import { createBackgroundTasks } from '../background-tasks.ts'
import type { EffectDeps } from '../dependencies.ts'
import { createPerform } from '../effects/perform-effect.ts'
import { createRequestBuilder } from '../effects/request-builder.ts'
import { blobsIn, encodeRecords, trustChangesOf } from '../log/encode-records.ts'
import { createSnapshotAutosave, type Folded, fold } from '../log/load-session.ts'
import { createWindowDamageCheck } from '../log/read-window.ts'
import { createPerformer } from '../performer.ts'
import { factsGoStale, resolve } from '../resolve/resolve.ts'
import { notTaken } from '../storage-health.ts'
import { driverFault } from '../stream/driver-control.ts'
import { createHub, type Hub } from '../stream/hub.ts'
import { createAbortTurn, createSideWork } from './abort-turn.ts'
import { endLeftovers } from './end-leftovers.ts'
import { createMailbox } from './mailbox.ts'
import type { RunnerOptions } from './runner-options.ts'

/** A session that is awake: one mailbox, its folds, its subscribers, its effects. */
export interface SessionRunner {
  readonly id: SessionId
  readonly hub: Hub
  /** The folds as of the last durable record. */
  folded(): Folded
  /** Whether a summary is being written that someone asked for: until it is, the session is in use. */
  isWriting(): boolean
  /** Why the store refuses what the session writes: beside the status, until it takes writes again. */
  storageError(): StorageError | null
  submit(submission: Submission): Promise<Result<Answer>>
  /** Tells the session what came of work that was done beside it. */
  tell(report: Report): Promise<Result<Answer>>
  /** Ends all work here and lets go of the session: what ran is interrupted, open questions go on waiting. */
  stop(reason: 'stopped' | 'closing'): Promise<void>
}

type Refusal = Extract<Result<void>, { ok: false }>

/** When to come back to a session that went away. */
const comeBackMs = 500

/** Wakes a session. Recovery is the ordinary path: fold, report the restart, plan. */
export async function openRunner({
  id,
  epoch,
  parts,
  loaded,
  storageWatch,
  fork,
  touched,
  abandoned,
}: RunnerOptions): Promise<Result<SessionRunner>> {
  const { store, clock, observer } = parts
  let current: Folded = { state: loaded.state, row: loaded.row }
  let closed: Fault | null = null
  const sideWork = createSideWork(touched)

  const hub = createHub(id, touched, () => parts.models.find(current.state.settings.model))
  const storage = storageWatch.join((error) => {
    hub.tellStorage(error)
    observer?.storage?.(id, error)
  })
  const mailbox = createMailbox()
  const checkDamage = createWindowDamageCheck()
  const isKept = loaded.state.origin?.persist !== false
  const blobs = isKept ? parts.blobs : parts.memoryBlobs
  const effects: EffectDeps = {
    ...parts,
    blobs,
    requests: (isKept ? parts.requests : null) ?? createRequestBuilder(store, blobs),
    session: id,
    epoch,
    hub,
    storage,
    state: () => current.state,
    findDamage: () => checkDamage(effects),
    aside: sideWork.signal,
    answer: null,
  }
  const performer = createPerformer(createPerform(effects), report, (cause) =>
    parts.onProblem({ where: `session ${id}`, cause }),
  )

  const inBackground = createBackgroundTasks(parts.onProblem)
  const snapshots = createSnapshotAutosave(id, store, loaded.snapshotSeq, inBackground)
  const pause = (delayMs: number) => new Promise<void>((wake) => void clock.after(delayMs, wake))
  const aborting = createAbortTurn({
    ...{ mailbox, pause, inBackground, record: recordAbort, isClosed: () => closed !== null },
    interrupt() {
      sideWork.end()
      performer.interrupt()
    },
    findCommand: (commandId) => store.findCommand(id, commandId),
  })

  /** What breaks here is our bug: the session stops before its log learns something false, and is brought up again. */
  async function step(input: Input): Promise<Result<Answer>> {
    try {
      return await take(input)
    } catch (cause) {
      if (cause instanceof HoldfastError) return refuse(cause.toFault())
      parts.onProblem({ where: `session ${id}`, cause })
      const broken = fault('internal', `The session broke: ${cause instanceof Error ? cause.message : String(cause)}`)
      abandon(broken)
      return refuse(broken)
    }
  }

  /** Decide, append, evolve, publish, perform: the only way anything comes to be true in a session. */
  async function take(input: Input): Promise<Result<Answer>> {
    if (closed) return refuse(closed)
    const { state } = current
    const decision = decide(state, input)
    if (!decision.ok) return retryOf(input, decision)
    const events = decision.value
    const nothingNew = ok({ seq: state.seq, result: {} })
    if (events.length === 0) return retryOf(input, nothingNew)

    const { commandId, by } = input.type === 'command' ? input : { commandId: null, by: null }
    const records = encodeRecords({ after: state.seq, atMs: clock.now(), events, commandId, by })
    const next = records.reduce<Folded>((folded, { record }) => fold(folded, id, record), current)
    const appended = await store.append({
      session: id,
      after: state.seq,
      epoch,
      records,
      entry: next.row.entry,
      clearDraft: events.some(({ type }) => type === 'step.ended'),
      blobs: blobsIn(events),
      trust: events.flatMap(trustChangesOf),
    })
    storage.hear(appended)
    if (!appended.ok) return refusedAppend(input, appended)

    current = next
    hub.publish(records) // only after append: nobody may see what a crash could unsay
    observer?.recorded?.(id, records)
    performer.reconcile(plan(current.state))
    if (current.state.turn.phase === 'idle') aborting.forget()
    snapshots.look(current)
    touched()
    return records[0] ? ok(answerOf(records[0].record)) : nothingNew
  }

  /** A command sent again gets its first answer. It is looked up only where it would not be admitted anew. */
  async function retryOf(input: Input, otherwise: Result<Answer>): Promise<Result<Answer>> {
    const first = input.type === 'command' ? await store.findCommand(id, input.commandId) : null
    return first ? ok(answerOf(first)) : otherwise
  }

  async function refusedAppend(input: Input, refusal: Refusal): Promise<Result<Answer>> {
    const { code } = refusal.fault
    if (code === 'command_seen') return retryOf(input, refusal)
    if (code === 'fenced' || code === 'log_moved' || code === 'session_not_found') abandon(refusal.fault)
    if (code !== 'storage_error') return refusal
    if (await isBehind()) abandon(fault('log_moved', 'The log is ahead of its session.'))
    else if (input.type === 'command' && input.command.type !== 'abort') return refuse(notTaken(refusal.fault))
    return refusal
  }

  /** A disk that says no may be wrong: a batch can get there though its answer did not. Then what we hold is not the log. */
  async function isBehind(): Promise<boolean> {
    const row = await store.entry(id).catch(() => null)
    return row !== null && row.head > current.state.seq
  }

  /** Another owner has the session, or it is gone: nothing we still do here counts. */
  function abandon(reason: Fault): void {
    closed = reason
    storage.leave()
    sideWork.end()
    performer.reconcile([])
    leave('failed', comeBackMs)
    abandoned(reason)
  }

  function leave(...why: Parameters<Hub['end']>): void {
    hub.end(...why)
    observer?.left?.(id)
  }

  /** What an effect did must be recorded. */
  function report(came: Report): Promise<Result<Answer>> {
    return storage.insist(() => mailbox.put(() => step(came)))
  }

  /** A question whose time ran out while nobody watched the clock is a no before anyone can answer it. */
  async function settleExpired(): Promise<void> {
    for (const { id: call, expiresAt } of askedCalls(current.state)) {
      if (expiresAt !== null && Date.parse(expiresAt) <= clock.now()) await report({ type: 'approval.expired', call })
    }
  }

  async function submit(submission: Submission): Promise<Result<Answer>> {
    const isLong = submission.command.type === 'compact' || submission.command.type === 'summarize'
    return isLong ? sideWork.during(() => submitOne(submission)) : submitOne(submission)
  }

  async function submitOne(submission: Submission): Promise<Result<Answer>> {
    const answer = await submitAny(submission)
    if (submission.command.type !== 'fork' || !answer.ok) return answer
    const [record] = await store.read(id, { after: answer.value.seq - 1, upTo: answer.value.seq, limit: 1 })
    // Sent under the id of another command, it got that one's answer: no fork was asked for.
    if (!record || 'lost' in record || record.event.type !== 'session.forked') return answer
    const made = await fork(current, record.event) // made after it is on record; asked again, it is made if it is not there
    return made.ok ? answer : made
  }

  async function submitAny(submission: Submission): Promise<Result<Answer>> {
    const { seq } = current.state
    const { command, by } = submission
    if (command.type === 'respondToApproval') await settleExpired()
    const unseated = driverFault(hub.seats, by, command)
    if (unseated) return retryOf({ type: 'command', facts: {}, ...submission }, refuse(unseated))
    if (command.type === 'claimDriver' || command.type === 'handOver') return ok({ seq, result: {} })
    const facts = await resolve(effects, submission)
    if (!facts.ok) return retryOf({ type: 'command', facts: {}, ...submission }, facts)
    if (submission.command.type === 'abort') return aborting.abort(submission)
    const decided = await mailbox.put(async () => {
      // What it needs to know was looked up where the session no longer stands: look again, where nothing can come between.
      const isStale = factsGoStale.has(command.type) && current.state.seq > seq
      const fresh = isStale ? await resolve(effects, submission) : facts
      const input = { type: 'command', facts: fresh.ok ? fresh.value : {}, ...submission } as const
      return fresh.ok ? step(input) : retryOf(input, fresh)
    })
    // Someone else may have answered between our look and the decision: look again, so that their name can be told.
    const isOutdated = !decided.ok && decided.fault.code === 'approval_not_found' && current.state.seq > seq
    return isOutdated ? submitAny(submission) : decided
  }

  async function recordAbort(submission: Submission): Promise<Result<Answer>> {
    const facts = { draft: effects.answer?.draft(), printed: hub.printed() }
    const recorded = await step({ type: 'command', facts, ...submission })
    // Under an id that another command has taken it is not on record; but what it has stopped is stopped.
    if (recorded.ok && current.state.turn.phase !== 'idle' && (await settleStopped()).ok) {
      performer.reconcile([])
      performer.reconcile(plan(current.state)) // a question that still waits has its clock watched again
    }
    return recorded
  }

  /** Nothing runs any more: what did is interrupted, open questions go on waiting. */
  function settleStopped() {
    performer.interrupt() // also what was begun since someone wanted it to stop
    return step({ type: 'process.stopped', draft: effects.answer?.draft() ?? null })
  }

  async function stop(reason: 'stopped' | 'closing'): Promise<void> {
    sideWork.end()
    performer.interrupt()
    const settled = await mailbox.put(settleStopped)
    // The next wake settles what could not be settled now; but someone should know that it was not.
    if (!settled.ok && !closed) parts.onProblem({ where: `stopping ${id}`, cause: settled.fault })
    closed ??= fault('session_stopped', 'The session was unloaded here. Open it again to go on.')
    storage.leave()
    performer.reconcile([])
    await performer.settled()
    await snapshots.finish(current).catch((cause) => parts.onProblem({ where: `snapshot of ${id}`, cause }))
    leave(reason, reason === 'closing' ? comeBackMs : null)
  }

  effects.requests.expect()
  await endLeftovers(current.state, parts.tools)
  const draft = current.state.turn.phase === 'thinking' ? await store.loadDraft(id) : null // no other phase has a use for it
  const restarted = await mailbox.put(() => step({ type: 'process.restarted', draft }))
  if (!restarted.ok) {
    storage.leave()
    return restarted
  }
  performer.reconcile(plan(current.state))
  return ok({
    id,
    hub,
    folded: () => current,
    storageError: () => storage.error,
    isWriting: sideWork.isBusy,
    submit,
    tell: report,
    stop,
  })
}
