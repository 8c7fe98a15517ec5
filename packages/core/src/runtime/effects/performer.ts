import { type CallId, errorMessage, type ModelFault, type Result, unreachable } from '@holdfast/protocol'
import { judge } from '../../policy/verdict.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Report } from '../../session/input.ts'
import type { Effect, EffectOf } from '../../session/plan.ts'
import { abortableDelay } from '../abortable-delay.ts'
import type { EarlyStart, EffectDeps, EffectRun } from '../dependencies.ts'
import { waitForWork } from './aborted-work.ts'
import { callModel } from './call-model.ts'
import { finishTurn } from './finish-turn.ts'
import { prepareCall } from './prepare-call.ts'
import { createContextBlobs, prepareWithNews } from './prepare-step.ts'
import { runTool } from './run-tool.ts'

/** Runs one effect and returns its report; null when it was aborted and has nothing to report. */
type Perform = (effect: Effect, run: EffectRun) => Promise<Report | null>

/** Made once: a new error for each of the many effects that end would take longer than all else here. */
const notPlanned = new DOMException('The session does not need this any more.', 'AbortError')

/** The keys of the effects that wait for subagents in the background begin with it. */
const followKey = 'follow-child:'

/** Keeps the running effects equal to the planned ones: starts new ones, aborts those no longer planned. */
export function createPerformer(
  perform: Perform,
  report: (report: Report) => Promise<Result<unknown>>,
  onBroken: (cause: unknown) => void,
) {
  const running = new Map<string, AbortController>()
  const unfinished = new Set<Promise<void>>()
  /** A model call that was started before its step was decided. It is kept while that step is being prepared. */
  let foreseen: string | null = null

  const start = (effect: Effect, given?: EarlyStart) => {
    const controller = new AbortController()
    running.set(effect.key, controller)
    const { signal } = controller
    const early = given && { ...given, recorded: untilAborted(given.recorded, signal) }
    const performAndReport = async () => {
      const ended = await perform(effect, { signal, report, early })
      await early?.recorded
      // The report of an aborted effect is dropped here, once for all effects.
      if (ended && !signal.aborted) await report(ended)
    }
    const work = performAndReport()
      .catch(onBroken)
      .finally(() => unfinished.delete(work))
    unfinished.add(work)
  }

  return {
    reconcile(planned: readonly Effect[]): void {
      const keys = new Set(planned.map(({ key }) => key))
      const isPreparing = planned.some(({ type }) => type === 'prepare-step')
      for (const [key, controller] of running) {
        if (keys.has(key) || (isPreparing && key === foreseen)) continue
        running.delete(key)
        controller.abort(notPlanned)
      }
      // A finished effect keeps its key until it is no longer planned, so that it does not start twice.
      for (const effect of planned) if (!running.has(effect.key)) start(effect)
    },
    /**
     * Starts a planned model call, or the preparation of a step, while the records that led to it are being written: the
     * network takes longer than the disk. Nobody sees anything of it until they are durable. If they are refused, `cancelEarly` must follow.
     */
    startEarly(planned: readonly Effect[], type: 'call-model' | 'prepare-step', early: EarlyStart): readonly string[] {
      const chosen = planned.filter((effect) => effect.type === type && !running.has(effect.key))
      for (const effect of chosen) start(effect, early)
      return chosen.map(({ key }) => key)
    },
    /** Starts a model call before its step is decided: `keepForeseen` or `cancelEarly` must follow. */
    startForeseen(call: EffectOf<'call-model'>, early: EarlyStart): void {
      if (running.has(call.key)) return
      foreseen = call.key
      start(call, early)
    },
    /** Keeps the foreseen call, because its step was decided as expected. Returns false if it was aborted meanwhile. */
    keepForeseen(key: string): boolean {
      foreseen = null
      return running.get(key)?.signal.aborted === false
    },
    /** Aborts effects that were started early, because the records that led to them were refused. */
    cancelEarly(keys: readonly string[]): void {
      for (const key of keys) {
        running.get(key)?.abort(notPlanned)
        running.delete(key)
      }
    },
    /**
     * Aborts everything at once, before anything is written. Nothing starts again until the next `reconcile`. With
     * `isTurnOnly`, what does not belong to the turn goes on: the wait for subagents in the background.
     */
    interrupt({ isTurnOnly = false }: { readonly isTurnOnly?: boolean } = {}): void {
      for (const [key, controller] of running)
        if (!isTurnOnly || !key.startsWith(followKey)) controller.abort(notPlanned)
      // The keys stay in the map, so that no interrupted effect restarts while it is still planned.
    },
    /** Resolves when nothing runs any more. */
    async settled(): Promise<void> {
      while (unfinished.size > 0) await Promise.all(unfinished)
    },
  }
}

/** Waits for a promise, and no longer than until an abort. */
function untilAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  const { promise: aborted, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve(), { once: true })
  return Promise.race([promise, aborted])
}

/** Runs effects. A broken one reports a failure, so that the session never waits for it. */
export function createEffectRunner(deps: EffectDeps): Perform {
  const contextBlobs = createContextBlobs(deps.blobs, deps.storage.insist)
  const preparations = createPreparations(deps.clock)
  const runOrder = createRunOrder(deps.clock)

  const perform = (effect: Effect, run: EffectRun): Promise<Report | null> => {
    switch (effect.type) {
      case 'prepare-step':
        return prepareWithNews(deps, effect, contextBlobs, run)
      case 'finish-turn':
        return finishTurn(deps, effect, run.signal)
      case 'call-model':
        return callModel(deps, effect, contextBlobs, run)
      case 'prepare-call':
        return preparations.run(effect.call, run.signal, () => prepareInOrder(effect, run))
      case 'await-approval':
        return awaitApproval(deps, effect, run.signal)
      case 'run-tool':
        return runOrder.run(run.signal, () => runTool(deps, effect, run))
      case 'follow-child':
        return deps.subagents?.follow(deps, effect.child, run.signal) ?? Promise.resolve(null)
      default:
        return unreachable(effect)
    }
  }

  /** Reports a prepared call at once, unless a person is asked: questions are put in the order of the calls. */
  async function prepareInOrder(effect: EffectOf<'prepare-call'>, run: EffectRun): Promise<null> {
    const prepared = await prepareCall(deps, effect, run)
    const isAsked = 'facts' in prepared.found && judge(prepared.found.facts, deps.state()).type === 'ask'
    if (isAsked) await preparations.before(effect.call)
    if (!run.signal.aborted) await run.report(prepared)
    return null
  }

  return async (effect, run) => {
    try {
      const { observer, session } = deps
      const work = () => perform(effect, run)
      return await (observer?.during?.(session, effect, work) ?? work())
    } catch (cause) {
      if (run.signal.aborted) return null
      deps.onProblem({ where: effect.key, cause })
      return brokenReport(deps, effect, cause)
    }
  }
}

/**
 * Runs a call only when aborted ones have ended: they still record what they did to files, and must not take the changes of
 * a later call for their own.
 */
function createRunOrder(clock: Clock) {
  const ending = new Set<Promise<unknown>>()
  return {
    async run<Value>(signal: AbortSignal, start: () => Promise<Value>): Promise<Value> {
      while (ending.size > 0) await Promise.all(ending)
      const work = start()
      const wait = () => {
        const ended: Promise<unknown> = waitForWork(clock, signal, work).then(() => ending.delete(ended))
        ending.add(ended)
      }
      signal.addEventListener('abort', wait, { once: true })
      return work.finally(() => signal.removeEventListener('abort', wait))
    },
  }
}

/** Knows which calls are being prepared, so that one of them can wait for those before it. */
function createPreparations(clock: Clock) {
  const running = new Map<CallId, Promise<unknown>>()
  return {
    run<Value>(call: CallId, signal: AbortSignal, prepare: () => Promise<Value>): Promise<Value> {
      const work = prepare()
      const ended: Promise<unknown> = waitForWork(clock, signal, work).then(
        () => running.get(call) === ended && running.delete(call),
      )
      running.set(call, ended)
      return work
    },
    /** Resolves when all calls before this one are prepared and reported, or aborted. */
    before: (call: CallId): Promise<unknown> =>
      Promise.all([...running].flatMap(([earlier, ended]) => (earlier < call ? [ended] : []))),
  }
}

function brokenReport(deps: EffectDeps, effect: Effect, cause: unknown): Report {
  const detail = errorMessage(cause)
  const message = 'An internal error stopped this turn. The details are in the log.'
  const fault: ModelFault = { kind: 'raw_dump', message, detail }
  switch (effect.type) {
    case 'prepare-step':
      return { type: 'step.refused', turn: effect.turn, fault }
    case 'finish-turn':
      return { type: 'turn.finishing', turn: effect.turn, hooks: null }
    case 'call-model': {
      const parts = deps.answer?.step === effect.step ? deps.answer.parts() : []
      return { type: 'model.failed', step: effect.step, parts, fault, usage: null }
    }
    case 'prepare-call': {
      const found = { unusable: `${effect.tool} could not be prepared: ${detail}` }
      return { type: 'call.prepared', call: effect.call, found, atMs: deps.clock.now() }
    }
    case 'await-approval':
      return { type: 'approval.expired', call: effect.call }
    case 'follow-child': {
      const output = { text: `The result of the subagent could not be read: ${detail}` }
      return { type: 'child.finished', child: effect.child, status: 'failed', output, handle: null }
    }
    case 'run-tool': {
      const output = { text: `${effect.tool} could not be run: ${detail}` }
      return { type: 'tool.finished', call: effect.call, outcome: { type: 'failed', output }, durationMs: 0, files: [] }
    }
    default:
      return unreachable(effect)
  }
}

/** Waits until a question expires. Started again after a crash, it waits for the remaining time. */
async function awaitApproval(
  { clock }: EffectDeps,
  { call, until }: EffectOf<'await-approval'>,
  signal: AbortSignal,
): Promise<Report | null> {
  await abortableDelay(clock, Math.max(0, Date.parse(until) - clock.now()), { signal, keepsAlive: true })
  return signal.aborted ? null : { type: 'approval.expired', call }
}
