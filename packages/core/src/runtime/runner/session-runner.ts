import {
  type Answer,
  type CommandId,
  createSerialQueue,
  type Fault,
  fault,
  HoldfastError,
  ok,
  type Result,
  refuse,
  type Seq,
  type SessionId,
  type StorageError,
  type Submission,
} from '@holdfast/protocol'
import { decide } from '../../session/decide.ts'
import type { Input, ProcessRequest, Report, SessionSubmission } from '../../session/input.ts'
import { plan } from '../../session/plan.ts'
import { askedCalls } from '../../session/state.ts'
import { answerOf } from '../../session/view.ts'
import { createBackgroundTasks } from '../background-tasks.ts'
import type { EffectDeps, RuntimeDeps } from '../dependencies.ts'
import { createPerform, createPerformer } from '../effects/perform-effect.ts'
import { createRequestBuilder } from '../effects/request-builder.ts'
import { endLeftovers } from '../effects/run-tool.ts'
import { createSnapshotAutosave, encodeAppend, type Folded, type LoadedSession } from '../log/load-session.ts'
import { createWindowDamageCheck } from '../log/read-window.ts'
import { factsGoStale, resolve } from '../resolve/resolve.ts'
import { notTaken, type StorageHealth } from '../storage-health.ts'
import { createHub, type Hub } from '../stream/hub.ts'
import { createAbortTurn, createSideWork } from './abort-turn.ts'

/** A loaded session: its folded state, its subscribers and its effects. Inputs are decided one at a time. */
export interface SessionRunner {
  readonly id: SessionId
  readonly hub: Hub
  /** Returns the folds as of the last durable record. */
  folded(): Folded
  /** Whether a summary that a client asked for is being written: until it is done, the session is in use. */
  isWriting(): boolean
  /** Why the store refuses the session's writes, until it accepts them again. */
  storageError(): StorageError | null
  submit(submission: Submission): Promise<Result<Answer>>
  /** Records the report of work that was done outside the session. */
  report(report: Report): Promise<Result<Answer>>
  /** Ends all work here and lets go of the session. Running calls are interrupted, open questions keep waiting. */
  stop(reason: 'stopped' | 'closing'): Promise<void>
}

export type RunnerOptions = {
  readonly id: SessionId
  readonly epoch: number
  /** With the store and the blobs of the session. */
  readonly deps: RuntimeDeps
  readonly loaded: LoadedSession
  readonly storageHealth: StorageHealth
  /** Creates the session that the fork record at `seq` names, if it does not exist yet. */
  readonly fork: (from: Folded, seq: Seq) => Promise<Result<unknown>>
  /** Called after each record and each change of the attached clients. */
  readonly onChange: () => void
  /** Called when the session can no longer be written here; the registry forgets it. */
  readonly onAbandoned: (fault: Fault) => void
}

/** When a client may reconnect to a session that left this process. */
const retryMs = 500

/** Opens a loaded session. Recovery is the ordinary path: fold, report the restart, plan. */
export async function openRunner(options: RunnerOptions): Promise<Result<SessionRunner>> {
  const { id, epoch, deps, loaded, onChange } = options
  const { store, clock, observer } = deps
  let current: Folded = { state: loaded.state, row: loaded.row }
  let closed: Fault | null = null
  const sideWork = createSideWork(onChange)
  const hub = createHub(id, onChange, () => deps.models.find(current.state.settings.model))
  const storage = options.storageHealth.join((error) => {
    hub.publishStorage(error)
    observer?.storage?.(id, error)
  })
  const enqueue = createSerialQueue()
  const checkDamage = createWindowDamageCheck()
  const effects: EffectDeps = {
    ...deps,
    requests: deps.requests ?? createRequestBuilder(store, deps.blobs),
    session: id,
    epoch,
    hub,
    storage,
    state: () => current.state,
    findDamage: () => checkDamage(effects),
    sideWorkSignal: sideWork.signal,
    answer: null,
  }
  const performer = createPerformer(createPerform(effects), report, (cause) =>
    deps.onProblem({ where: `session ${id}`, cause }),
  )
  const inBackground = createBackgroundTasks(deps.onProblem)
  const snapshots = createSnapshotAutosave(id, store, loaded.snapshotSeq, inBackground)
  const aborting = createAbortTurn({
    enqueue,
    inBackground,
    pause: (delayMs) => new Promise((resolve) => void clock.after(delayMs, resolve)),
    record: recordAbort,
    isClosed: () => closed !== null,
    interrupt() {
      sideWork.end()
      performer.interrupt()
    },
    findCommand: (commandId) => store.findCommand(id, commandId),
  })

  /** Handles one input. A throw is our bug: the session stops before a false record is written, and is restarted. */
  async function step(input: Input): Promise<Result<Answer>> {
    try {
      return await apply(input)
    } catch (cause) {
      if (cause instanceof HoldfastError) return refuse(cause.toFault())
      deps.onProblem({ where: `session ${id}`, cause })
      const broken = fault('internal', `The session broke: ${cause instanceof Error ? cause.message : String(cause)}`)
      abandon(broken)
      return refuse(broken)
    }
  }

  /** Decides, appends, folds, publishes, performs: the only way a session changes. */
  async function apply(input: Input): Promise<Result<Answer>> {
    if (closed) return refuse(closed)
    const { state } = current
    const decision = decide(state, input)
    const { commandId, by } = input.type === 'command' ? input : { commandId: null, by: null }
    if (!decision.ok) return retryOf(commandId, decision)
    const events = decision.value
    const nothingNew = ok({ seq: state.seq, result: {} })
    if (events.length === 0) return retryOf(commandId, nothingNew)

    const batch = { atMs: clock.now(), events, commandId, by }
    const { append, next } = encodeAppend({ session: id, epoch, folded: current }, batch)
    const appended = await store.append(append)
    storage.track(appended)
    if (!appended.ok) return refusedAppend(input, appended)

    current = next
    const { records } = append
    hub.publish(records) // only after the append: no client may see a record that a crash could lose
    observer?.recorded?.(id, records)
    performer.reconcile(plan(current.state))
    if (current.state.turn.phase === 'idle') aborting.pending.submission = null
    snapshots.afterChange(current)
    onChange()
    return records[0] ? ok(answerOf(records[0].record)) : nothingNew
  }

  /** Returns the first answer to a command that was sent before; looked up only where it writes nothing now. */
  async function retryOf(commandId: CommandId | null, otherwise: Result<Answer>): Promise<Result<Answer>> {
    const first = commandId === null ? null : await store.findCommand(id, commandId)
    return first ? ok(answerOf(first)) : otherwise
  }

  async function refusedAppend(input: Input, refusal: Extract<Result<void>, { ok: false }>): Promise<Result<Answer>> {
    const { code } = refusal.fault
    if (code === 'command_seen' && input.type === 'command') return retryOf(input.commandId, refusal)
    if (code === 'fenced' || code === 'log_moved' || code === 'session_not_found') abandon(refusal.fault)
    if (code !== 'storage_error') return refusal
    // A batch can reach the disk although the disk reported an error: then the log is ahead of our state.
    const row = await store.entry(id).catch(() => null)
    const isBehind = row !== null && row.head > current.state.seq
    if (isBehind) abandon(fault('log_moved', 'The log is ahead of its session.'))
    else if (input.type === 'command' && input.command.type !== 'abort') return refuse(notTaken(refusal.fault))
    return refusal
  }

  /** Gives up the session: another process owns it, it is gone, or our own code broke. */
  function abandon(reason: Fault): void {
    closed = reason
    storage.leave()
    sideWork.end()
    performer.reconcile([])
    leave('failed', retryMs)
    options.onAbandoned(reason)
  }

  function leave(...why: Parameters<Hub['end']>): void {
    hub.end(...why)
    observer?.left?.(id)
  }

  /** Records what an effect did, and keeps trying while the disk refuses. */
  function report(input: Report): Promise<Result<Answer>> {
    return storage.insist(() => enqueue(() => step(input)))
  }

  /** Rejects questions whose time ran out while no timer was running, before one of them can be answered. */
  async function settleExpired(): Promise<void> {
    for (const { id: call, expiresAt } of askedCalls(current.state)) {
      if (expiresAt !== null && Date.parse(expiresAt) <= clock.now()) await report({ type: 'approval.expired', call })
    }
  }

  async function submit({ command, ...sender }: Submission): Promise<Result<Answer>> {
    if (command.type === 'claimDriver' || command.type === 'handOver' || command.type === 'refreshCredentials')
      return answerRequest(command, sender)
    const isLong = command.type === 'compact' || command.type === 'summarize'
    const endWork = isLong ? sideWork.begin() : null
    try {
      const answer = await admit({ command, ...sender })
      if (command.type !== 'fork' || !answer.ok) return answer
      const made = await options.fork(current, answer.value.seq)
      return made.ok ? answer : made
    } finally {
      endWork?.()
    }
  }

  /** Answers a request that concerns this process. Nothing of it is recorded. */
  async function answerRequest(request: ProcessRequest, { by, commandId }: Omit<Submission, 'command'>) {
    const nothingNew = ok({ seq: current.state.seq, result: {} })
    if (request.type !== 'refreshCredentials') {
      const refusal = hub.drivers.answer(request, by)
      return refusal ? retryOf(commandId, refuse(refusal)) : nothingNew
    }
    const refusal = by && hub.drivers.refusal(by)
    const refreshed = refusal ? refuse(refusal) : await deps.models.refresh()
    if (refreshed.ok && closed) return refuse(closed)
    return retryOf(commandId, refreshed.ok ? nothingNew : refreshed)
  }

  /** Looks up what the command needs to know, then decides it in turn. */
  async function admit(submission: SessionSubmission): Promise<Result<Answer>> {
    const { seq } = current.state
    const { command, commandId, by } = submission
    if (command.type === 'respondToApproval') await settleExpired()
    const refusal = by && hub.drivers.refusal(by)
    if (refusal) return retryOf(commandId, refuse(refusal))
    const facts = await resolve(effects, submission)
    if (!facts.ok) return retryOf(commandId, facts)
    if (command.type === 'abort') return aborting.abort(submission)
    const decided = await enqueue(async () => {
      // The session has moved on since the look-up: look again, where nothing can come between.
      const isStale = factsGoStale[command.type] && current.state.seq > seq
      const fresh = isStale ? await resolve(effects, submission) : facts
      return fresh.ok ? step({ type: 'command', facts: fresh.value, ...submission }) : retryOf(commandId, fresh)
    })
    // Another client may have answered the question meanwhile: look again, so that the fault can name it.
    const isOutdated = !decided.ok && decided.fault.code === 'approval_not_found' && current.state.seq > seq
    return isOutdated ? admit(submission) : decided
  }

  async function recordAbort(submission: SessionSubmission): Promise<Result<Answer>> {
    const facts = { draft: effects.answer?.draft(), printed: hub.printed() }
    const recorded = await step({ type: 'command', facts, ...submission })
    // Under an id that another command used, the abort is not recorded; what it stopped stays stopped.
    if (recorded.ok && current.state.turn.phase !== 'idle' && (await settleStopped()).ok) {
      performer.reconcile([])
      performer.reconcile(plan(current.state)) // restarts the timers of open questions
    }
    return recorded
  }

  /** Records that nothing runs any more: calls are interrupted, open questions keep waiting. */
  function settleStopped() {
    performer.interrupt() // also work that began after the stop was asked for
    return step({ type: 'process.stopped', draft: effects.answer?.draft() ?? null })
  }

  async function stop(reason: 'stopped' | 'closing'): Promise<void> {
    sideWork.end()
    performer.interrupt()
    const settled = await enqueue(settleStopped)
    // The next load settles the rest; the problem is reported all the same.
    if (!settled.ok && !closed) deps.onProblem({ where: `stopping ${id}`, cause: settled.fault })
    closed ??= fault('session_stopped', 'The session was unloaded here. Open it again to go on.')
    storage.leave()
    performer.reconcile([])
    await performer.settled()
    await snapshots.finish(current).catch((cause) => deps.onProblem({ where: `snapshot of ${id}`, cause }))
    leave(reason, reason === 'closing' ? retryMs : null)
  }

  effects.requests.expect()
  await endLeftovers(current.state, deps.tools)
  const draft = current.state.turn.phase === 'thinking' ? await store.loadDraft(id) : null // no other phase uses a draft
  const restarted = await enqueue(() => step({ type: 'process.restarted', draft }))
  if (!restarted.ok) {
    storage.leave()
    return restarted
  }
  performer.reconcile(plan(current.state))
  return ok({
    ...{ id, hub, submit, stop, report, isWriting: sideWork.isBusy },
    folded: () => current,
    storageError: () => storage.error,
  })
}
