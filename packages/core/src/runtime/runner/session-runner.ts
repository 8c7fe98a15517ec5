import {
  type Answer,
  createSerialQueue,
  ok,
  type Result,
  readBuiltIn,
  refuse,
  type SessionId,
  type StorageError,
  type Submission,
} from '@holdfast/protocol'
import type { Facts } from '../../session/facts.ts'
import { isProcessRequest, type Report, type SessionSubmission } from '../../session/input.ts'
import { plan } from '../../session/plan.ts'
import { isAbortOf, waitingCalls } from '../../session/state.ts'
import { createBackgroundTasks } from '../background-tasks.ts'
import type { EffectDeps } from '../dependencies.ts'
import { createEffectRunner, createPerformer } from '../effects/performer.ts'
import { canPrepareEarly } from '../effects/prepare-step.ts'
import { createRequestBuilder } from '../effects/request-builder.ts'
import { endLeftovers } from '../effects/run-tool.ts'
import { createStepContext } from '../effects/step-context.ts'
import { createSnapshotAutosave, type Folded } from '../log/load-session.ts'
import { createWindowDamageCheck } from '../log/read-window.ts'
import { factsGoStale, resolve } from '../resolve/resolve.ts'
import type { SessionStorage } from '../storage-health.ts'
import { createHub, type Hub } from '../stream/hub.ts'
import { createAbortTurn } from './abort-turn.ts'
import { answerRequest } from './answer-request.ts'
import { type Arrival, createArrivalOrder } from './arrival-order.ts'
import {
  answerBefore,
  firstAnswer,
  handleInput,
  loadAgain,
  loseToOther,
  type RunnerOptions,
  type RunningSession,
  report,
  reportWork,
  suspend,
} from './handle-input.ts'
import { createHookNotices } from './hook-notices.ts'
import { refusalOf, seatRefusal } from './refusal.ts'
import { restoreInTurn } from './restore-in-turn.ts'
import { createUnrecorded } from './same-command.ts'
import { createSideWork } from './side-work.ts'
import { interrupt, settleStopped, stop } from './stop-session.ts'

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
  /** Gives up the session because another process owns it now: its work ends, and nothing more is recorded here. */
  lose(): Promise<void>
  /** Aborts all work and refuses every input: this node may not act until it is in the cluster again. */
  suspend(): void
  /** Loads a suspended session again, from its log. */
  resume(): Promise<void>
  /** Ends all work here and unloads the session. Running calls are interrupted, open questions keep waiting. */
  stop(reason: 'stopped' | 'closing'): Promise<void>
}

/** Opens a loaded session. Recovery is the ordinary path: fold, report the restart, plan. */
export async function openRunner(options: RunnerOptions): Promise<Result<SessionRunner>> {
  const session = createRunningSession(options)
  const { hub, effects, performer, sideWork } = session
  const { state } = session.folded
  await endLeftovers(state, options.deps.tools)
  const draft = state.turn.phase === 'thinking' ? await options.deps.store.loadDraft(options.id) : null // no other phase uses a draft
  const children = await options.subagents?.look(options.id, state)
  const restarted = await session.enqueue(() => handleInput(session, { type: 'process.restarted', draft, children }))
  if (!restarted.ok) {
    effects.storage.leave()
    return restarted
  }
  performer.reconcile(plan(session.folded.state))
  return ok({
    id: options.id,
    hub,
    isWriting: sideWork.isBusy,
    submit: submit.bind(null, session),
    report: (input) => report(session, input),
    lose: () => session.enqueue(async () => loseToOther(session)),
    suspend: () => suspend(session),
    resume: () => session.enqueue(async () => loadAgain(session)),
    stop: (reason) => stop(session, reason),
    folded: () => session.folded,
    storageError: () => effects.storage.error,
  })
}

/** Connects the parts of a session. Nothing runs yet. */
function createRunningSession(options: RunnerOptions): RunningSession {
  const { id, deps, loaded, onChange } = options
  const inBackground = createBackgroundTasks(deps.onProblem)
  const sideWork = createSideWork(onChange)
  const hub = createHub(id, onChange, () => deps.models.find(session.folded.state.settings.model))
  const storage = options.storageHealth.join((error) => {
    hub.publishStorage(error)
    deps.observer?.storage?.(id, error)
  })
  const enqueue = createSerialQueue()
  const effects = createEffectDeps(options, {
    hub,
    storage,
    sideWorkSignal: sideWork.signal,
    record: (input) => report(session, input),
    state: () => session.folded.state,
  })
  const performer = createPerformer(
    createEffectRunner(effects),
    (input) => reportWork(session, input),
    (cause) => deps.onProblem({ where: `session ${id}`, cause }),
  )
  const aborting = createAbortTurn({
    enqueue,
    inBackground,
    pause: (delayMs) => new Promise((resolve) => void deps.clock.after(delayMs, resolve)),
    record: (submission) => recordAbort(session, submission),
    isClosed: () => session.closed !== null,
    interrupt: () => interrupt(session, { isTurnOnly: true }),
    isMeant: ({ command }) => command.type !== 'abort' || isAbortOf(session.folded.state, command),
    answerBefore: (submission) => answerBefore(session, submission),
  })
  const notices = createHookNotices({
    effects,
    record: (runs) => session.enqueue(() => handleInput(session, { type: 'hooks.ran', runs })),
    isWatched: () => hub.size > 0,
  })
  const session: RunningSession = {
    options,
    enqueue,
    hub,
    effects,
    performer,
    sideWork,
    aborting,
    notices,
    arrivals: createArrivalOrder(),
    unrecorded: createUnrecorded(),
    folded: { state: loaded.state, row: loaded.row },
    closed: null,
    suspended: null,
    isEnding: false,
    foreseen: null,
    snapshots: createSnapshotAutosave(id, deps.store, loaded.snapshotSeq, inBackground),
  }
  if (loaded.state.seq === 1) effects.recent?.begin(id)
  return session
}

type OwnParts = Pick<EffectDeps, 'hub' | 'sideWorkSignal' | 'record' | 'state'> & { readonly storage: SessionStorage }

function createEffectDeps({ id, epoch, deps, subagents }: RunnerOptions, own: OwnParts): EffectDeps {
  const checkDamage = createWindowDamageCheck()
  const effects: EffectDeps = {
    ...deps,
    ...own,
    session: id,
    epoch,
    subagents,
    requests: deps.requests ?? createRequestBuilder(deps.store, deps.blobs),
    findDamage: () => checkDamage(effects),
    oneByOne: createSerialQueue(),
    promptsInOrder: createSerialQueue(),
    questions: new Map(),
    stepContext: createStepContext(deps),
    startContext: null,
    answer: null,
  }
  return effects
}

/** Runs a command. A prompt that is a built-in slash command is run as the command that it stands for. */
async function submit(session: RunningSession, submission: Submission): Promise<Result<Answer>> {
  const { command } = submission
  const isPrompt = command.type === 'sendPrompt' || command.type === 'queueSteering' || command.type === 'queueFollowUp'
  const builtIn = isPrompt && session.options.deps.commands ? readBuiltIn(command.content) : null
  if (builtIn === null) return submitCommand(session, submission)
  if (!builtIn.command.ok) return builtIn.command
  const answer = await submitCommand(session, { ...submission, command: builtIn.command.value })
  return answer.ok ? ok({ ...answer.value, result: { ...answer.value.result, ran: builtIn.name } }) : answer
}

async function submitCommand(session: RunningSession, { command, ...sender }: Submission): Promise<Result<Answer>> {
  if (isProcessRequest(command)) return answerRequest(session, command, sender)
  const routed = command.type === 'respondToApproval' ? await answerBelow(session, { command, ...sender }) : null
  if (routed) return routed
  const isLong = command.type === 'compact' || command.type === 'summarize' || command.type === 'restoreFiles'
  const arrival = session.arrivals.enter(command.type, isLong)
  const endWork = isLong ? session.sideWork.begin() : null
  try {
    const answer = await admit(session, { command, ...sender }, arrival)
    if (command.type !== 'fork' || !answer.ok) return answer
    const made = await session.options.fork(session.folded, answer.value.seq)
    return made.ok ? answer : made
  } finally {
    arrival.placed()
    endWork?.()
  }
}

/** Passes the answer to an approval of a subagent on. The sender must be allowed to command this session. */
async function answerBelow(session: RunningSession, submission: SessionSubmission): Promise<Result<Answer> | null> {
  const { id, subagents } = session.options
  const { state } = session.folded
  const isNamed = 'child' in submission.command && submission.command.child !== undefined
  if (!subagents || (state.children.length === 0 && !isNamed)) return null
  const refusal = submission.by && refusalOf(session, submission, submission.by)
  return refusal ? refuse(refusal) : subagents.answer(id, state, submission)
}

/** Looks up what the command needs to know, then decides it in turn. */
async function admit(
  session: RunningSession,
  submission: SessionSubmission,
  arrival: Arrival,
): Promise<Result<Answer>> {
  const { seq } = session.folded.state
  const { command, by } = submission
  if (command.type === 'respondToApproval') await settleExpired(session)
  const refusal = by && refusalOf(session, submission, by)
  if (refusal) return firstAnswer(session, submission, refuse(refusal))
  const staleness = factsGoStale[command.type]
  const endReading = command.type === 'sendPrompt' ? readAhead(session) : null
  const facts: Result<Facts> = staleness === 'in turn' ? ok({}) : await resolve(session.effects, submission)
  endReading?.()
  if (!facts.ok) return firstAnswer(session, submission, facts)
  if (command.type === 'abort') return session.aborting.abort(submission, arrival)
  if (arrival.before) await arrival.before
  const deciding = session.enqueue(async () => {
    // Records were added since the look-up: look up again, where none can be added meanwhile.
    const isStale = staleness === 'in turn' || (staleness && session.folded.state.seq > seq)
    const fresh = isStale ? await resolve(session.effects, submission) : facts
    const unseated = by && !submission.isFromAbove && seatRefusal(session, { person: submission.person }, by)
    if (unseated) return firstAnswer(session, submission, refuse(unseated))
    const done = fresh.ok && fresh.value.restoring ? await restoreInTurn(session, fresh.value.restoring) : fresh
    return done.ok
      ? handleInput(session, { type: 'command', facts: done.value, ...submission })
      : firstAnswer(session, submission, done)
  })
  arrival.placed()
  const decided = await deciding
  // Another client may have answered the question meanwhile: look up again, so that the fault can name it.
  const isOutdated = !decided.ok && decided.fault.code === 'approval_not_found' && session.folded.state.seq > seq
  return isOutdated ? admit(session, submission, arrival) : decided
}

/** Files that were read before a hook or command ran may be others by now. */
const aheadMsMax = 10

/** Begins to read what the next step is told, while its prompt is checked. Call the result after that. */
function readAhead({ effects, folded: { state }, options: { deps } }: RunningSession): (() => void) | null {
  const { startContext, stepContext } = effects
  if (state.turn.phase !== 'idle' || state.origin === null || startContext === null) return null
  if (!canPrepareEarly(effects, state)) return null
  const startedMs = deps.clock.now()
  stepContext.lookAhead(state.origin, state, startContext.text)
  return () => {
    if (deps.clock.now() - startedMs > aheadMsMax) stepContext.forget()
  }
}

/** Rejects questions whose time ran out while no timer was running, before one of them can be answered. */
async function settleExpired(session: RunningSession): Promise<void> {
  const { clock } = session.options.deps
  for (const { id: call, expiresAt } of waitingCalls(session.folded.state)) {
    if (expiresAt !== null && Date.parse(expiresAt) <= clock.now())
      await report(session, { type: 'approval.expired', call })
  }
}

async function recordAbort(session: RunningSession, submission: SessionSubmission): Promise<Result<Answer>> {
  const { effects, hub, performer, aborting } = session
  const isMeant = aborting.isMeant(submission)
  const facts = { draft: effects.answer?.draft(), printed: hub.printed() }
  const recorded = await handleInput(session, { type: 'command', facts, ...submission })
  // Under an id that another command used, the abort is not recorded; what it stopped stays stopped.
  const isOver = recorded.ok || recorded.fault.code === 'command_id_reused'
  if (isMeant && isOver && session.folded.state.turn.phase !== 'idle' && (await settleStopped(session)).ok) {
    performer.reconcile([])
    performer.reconcile(plan(session.folded.state)) // restarts the timers of open questions
  }
  return recorded
}
