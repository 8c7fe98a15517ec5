import {
  type BlobHash,
  HoldfastError,
  type HookRun,
  type InstructionFile,
  invariant,
  limits,
  type ModelFault,
  noWorkdir,
} from '@holdfast/protocol'
import type { ModelReadiness, ToolSchema } from '../../ports/provider.ts'
import type { Blobs } from '../../ports/store/blobs.ts'
import type { Report, ReportOf } from '../../session/input.ts'
import type { Effect, EffectOf } from '../../session/plan.ts'
import { modelNow, type SessionState } from '../../session/state.ts'
import { readBlob } from '../blobs/read-blob.ts'
import type { EffectDeps, EffectRun } from '../dependencies.ts'
import { findCap } from '../find-cap.ts'
import type { SessionStorage } from '../storage-health.ts'
import { type Compaction, writeCheckpoint } from './compaction.ts'
import { runHooks } from './run-hooks.ts'
import { instructedBy } from './step-context.ts'

/**
 * Gathers and stores the system text and tool schemas, so that the request can be built from log and blobs alone. A
 * window that has grown too large is summarised on the way.
 */
async function prepareStep(
  deps: EffectDeps,
  { turn }: EffectOf<'prepare-step'>,
  contextBlobs: ContextBlobs,
  { signal, early }: EffectRun,
): Promise<Report> {
  const { models } = deps
  const state = () => early?.state ?? deps.state()
  const { origin, settings } = state()
  invariant(origin, 'a step needs a started session')
  const model = models.find(modelNow(state()))
  if (model.type !== 'ready') return { type: 'step.refused', turn, fault: modelUnavailable(model) }

  const spending = { payer: state().payer, workspace: origin.workdir, model: modelNow(state()) }
  // Hooks and a summary must not start when a cap is reached; what a ready session needs besides is only read.
  const isQuick = deps.startContext !== null && !isOverfull(state(), model.contextTokens)
  const finding = early?.isUnderCaps ? Promise.resolve(null) : findCap(deps, spending)
  const cappedBefore = isQuick ? null : await finding
  if (cappedBefore) return { type: 'step.capped', turn, fault: cappedBefore }
  const began = await beginSession(deps, turn, signal)
  const gathered = deps.stepContext.take(origin, state(), began.context)
  const [capped, system, schemas, compaction] = await Promise.all([
    finding,
    gathered.system.then((text) => contextBlobs.store('system', text)),
    gathered.tools.then((text) => contextBlobs.store('tools', text)),
    isOverfull(state(), model.contextTokens) ? writeCheckpoint(deps, 'auto', signal) : null,
  ])
  if (capped) return { type: 'step.capped', turn, fault: capped }
  const hooks = [...began.runs, ...(compaction?.hooks ?? [])]
  const checkpoint = compaction && toCheckpoint(compaction)
  const ran = hooks.length > 0 ? { hooks } : {}
  const tree = await deps.subagents?.spent(deps.session, state())
  const more = { ...ran, ...(tree && { tree }) }
  return { type: 'step.prepared', turn, mode: settings.mode, system, tools: schemas, checkpoint, ...more }
}

/** Returns the result of an automatic compaction, as the session learns it. */
function toCheckpoint({ written }: Compaction): ReportOf<'step.prepared'>['checkpoint'] {
  return written && 'vetoed' in written ? { failed: `A hook blocked it: ${written.vetoed}` } : written
}

type Began = { readonly context: string | null; readonly runs: readonly HookRun[] }

/** Runs the SessionStart hooks before the first step of the session in this process, and after a compaction. */
async function beginSession(deps: EffectDeps, turn: number, signal: AbortSignal): Promise<Began> {
  const before = deps.startContext
  const { checkpoint, turns, turn: now, settings } = deps.state()
  const isCompacted = before !== null && checkpoint !== null && checkpoint !== before.checkpoint
  if (before !== null && !isCompacted) return { context: before.text, runs: [] }
  const isFirst = turns === 1 && turn === 0 && now.phase !== 'idle' && now.steps === 0
  const source = isCompacted ? 'compact' : isFirst ? 'startup' : 'resume'
  const ran = await runHooks(deps, { event: 'SessionStart', source, model: settings.model }, signal)
  const text = ran ? ran.answer.context : (before?.text ?? null)
  if (!signal.aborted) deps.startContext = { text, checkpoint }
  return { context: text, runs: ran?.runs ?? [] }
}

/** Whether the next step can be prepared while the prompt before it is being written: no hook and no summary comes first. */
export function canPrepareEarly({ startContext, models }: EffectDeps, state: SessionState): boolean {
  const { origin, checkpoint } = state
  const isCompacted = checkpoint !== null && checkpoint !== startContext?.checkpoint
  const model = models.find(modelNow(state))
  if (origin === null || startContext === null || isCompacted || model.type !== 'ready') return false
  return !isOverfull(state, model.contextTokens)
}

/** Begins to read what the next step is told, if it is planned and no hooks have to run before it. */
export function lookAhead(
  { stepContext, startContext }: EffectDeps,
  state: SessionState,
  planned: readonly Effect[],
): void {
  const { origin, checkpoint } = state
  if (origin === null || startContext === null || !planned.some(({ type }) => type === 'prepare-step')) return
  const isCompacted = checkpoint !== null && checkpoint !== startContext.checkpoint
  if (!isCompacted) stepContext.lookAhead(origin, state, startContext.text)
}

/**
 * Prepares a step, and adds what the model does not know yet of commands in the background. They count as told once the
 * step has started.
 */
export async function prepareWithNews(
  deps: EffectDeps,
  effect: EffectOf<'prepare-step'>,
  contextBlobs: ContextBlobs,
  run: EffectRun,
): Promise<Report | null> {
  const { signal, report, early } = run
  if (early) await null // the records that led here are sent first
  const prepared = await prepareStep(deps, effect, contextBlobs, run)
  if (!deps.tools.background?.news(deps.session) && !signal.aborted) early?.foresee?.(prepared)
  await early?.recorded
  const news = deps.tools.background?.news(deps.session)
  if (!news || prepared.type !== 'step.prepared' || signal.aborted) return prepared
  const { text, isBreach } = news
  const started = await report({ ...prepared, news: { text, isBreach } })
  if (started.ok && deps.state().turn.phase === 'thinking') news.told()
  return null
}

/** Returns the files of instructions that the next step would be told. */
export async function listInstructions(
  { instructions }: Pick<EffectDeps, 'instructions'>,
  state: SessionState,
): Promise<readonly InstructionFile[]> {
  const workdir = state.origin?.workdir ?? noWorkdir
  return workdir === noWorkdir ? [] : instructions.list({ workdir, ...instructedBy(state) })
}

/** Returns the fault to record for a model that is not ready: an unknown model is not a refused key. */
export const modelUnavailable = ({ type, message }: Exclude<ModelReadiness, { type: 'ready' }>): ModelFault => ({
  kind: type === 'no_credentials' ? 'auth_failed' : 'passthrough',
  message,
})

/** How much the window may grow after a failed compaction before the next try. */
const failedGrowth = 1.1

/** Whether the window is so full that it must be summarised before the next step. */
function isOverfull({ tokens, compaction }: SessionState, contextTokens: number = limits.contextTokens): boolean {
  const { isUndone, failedAt } = compaction
  const part = isUndone ? limits.compactAgainAt : limits.compactAt
  return tokens > contextTokens * part && (failedAt === null || tokens > failedAt * failedGrowth)
}

export type ContextBlobs = ReturnType<typeof createContextBlobs>

/** Stores the system text and tool schemas of one session as blobs, and caches the newest. */
export function createContextBlobs(blobs: Blobs, insist: SessionStorage['insist'] = (write) => write()) {
  const newest = new Map<'system' | 'tools', { readonly text: string; readonly hash: BlobHash }>()
  let parsed: { readonly hash: BlobHash; readonly tools: readonly ToolSchema[] } | null = null

  async function read(hash: BlobHash): Promise<string> {
    for (const known of newest.values()) if (known.hash === hash) return known.text
    const bytes = await readBlob(blobs, hash)
    if (!bytes) throw new Error(`blob ${hash} is gone`)
    return Buffer.from(bytes).toString('utf8')
  }

  return {
    /** Stores a text; the same text is stored once in the life of a session. */
    async store(which: 'system' | 'tools', text: string): Promise<BlobHash> {
      const known = newest.get(which)
      // The blob may not be recorded yet, and then a sweep removes it after a day.
      if (known?.text === text && (await blobs.has(known.hash))) return known.hash
      const put = await insist(() => blobs.put([Buffer.from(text)])) // a full disk must not fail the turn
      if (!put.ok) throw new HoldfastError(put.fault)
      newest.set(which, { text, hash: put.value.hash })
      return put.value.hash
    },

    /** Reads the text of a blob. Its name is its hash, so the cached text equals the stored one. */
    read,

    /** Reads the tool schemas of a blob. Those of the step before are not parsed again. */
    async readTools(hash: BlobHash): Promise<readonly ToolSchema[]> {
      if (parsed?.hash !== hash) parsed = { hash, tools: JSON.parse(await read(hash)) } // our own JSON, checked by its hash
      return parsed.tools
    },
  }
}
