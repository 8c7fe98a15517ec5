import {
  type BlobHash,
  type CallId,
  errorMessage,
  type HookRun,
  invariant,
  limits,
  type Outcome,
  orThrow,
  type ProcessMark,
} from '@holdfast/protocol'
import type { SubagentRequest } from '../../ports/guidance.ts'
import type { LookLater, Prepared, Tool, ToolArgs, ToolBlobs, ToolResult, Tools } from '../../ports/tool.ts'
import type { LeftPath } from '../../ports/workspace-files.ts'
import type { Report } from '../../session/input.ts'
import type { EffectOf } from '../../session/plan.ts'
import { findCall, type SessionState } from '../../session/state.ts'
import { openBlob } from '../blobs/read-blob.ts'
import { storeOutput } from '../blobs/store-output.ts'
import { storeFile } from '../blobs/store-upload.ts'
import type { EffectDeps, EffectRun } from '../dependencies.ts'
import { readPathChanges } from '../files/changed-files.ts'
import { waitForWork } from './aborted-work.ts'
import { createAsk } from './ask-person.ts'
import { readArgs, reviewResult } from './call-hooks.ts'
import { findOffered, findTool } from './offered-tools.ts'
import { factsOf, hashArgs, toolContext, toReport, withReason } from './prepare-call.ts'

/** Thrown when the call was aborted between its approval and its start. */
class NotWanted extends Error {
  override readonly name = 'NotWanted'
}

/**
 * Runs a call exactly as approved, once its start is on stable storage. Calls that depend on content that others change
 * run one after the other, so that each finds what the one before has recorded. One that ignores its abort is not waited for.
 */
export async function runTool(deps: EffectDeps, effect: EffectOf<'run-tool'>, run: EffectRun): Promise<Report | null> {
  if (effect.contentHash === null || deps.tools.find(effect.tool)?.isIndependent) return runCall(deps, effect, run)
  const { promise: work, resolve: begin } = Promise.withResolvers<null>()
  await deps.oneByOne(() => {
    begin(runAndReport(deps, effect, run))
    return waitForWork(deps.clock, run.signal, work)
  })
  return work
}

async function runAndReport(deps: EffectDeps, effect: EffectOf<'run-tool'>, run: EffectRun): Promise<null> {
  const ended = run.signal.aborted ? null : await runCall(deps, effect, run)
  if (ended && !run.signal.aborted) await run.report(ended)
  return null
}

async function runCall(
  deps: EffectDeps,
  { call, tool: name, argsHash, contentHash }: EffectOf<'run-tool'>,
  { signal, report }: EffectRun,
): Promise<Report | null> {
  const { origin, turn } = deps.state()
  invariant(origin && turn.phase === 'acting', 'a tool runs in a round')
  const { step } = turn
  const startedMs = deps.clock.now()
  const elapsedMs = () => Math.max(0, deps.clock.now() - startedMs)
  const finished = (result: ToolResult, durationMs = elapsedMs(), hooks?: readonly HookRun[]): Report => {
    const { type, output, files = [], seen, todos, skill, child } = result
    const outcome: Outcome = { type, output }
    return { type: 'tool.finished', call, outcome, durationMs, files, seen, todos, skill, hooks, child }
  }

  const tool = await findTool(deps.tools, origin, deps.state().settings, name)
  const args = await readArgs(deps, call)
  if (!tool) return finished({ type: 'failed', output: { text: `The tool ${name} no longer exists.` } })
  invariant(hashArgs(name, args) === argsHash, `call ${call} is not what was approved`)

  const checked =
    contentHash === null ? null : await checkContent(deps, { call, tool, args, contentHash }, { signal, report })
  if (checked === 'not wanted') return null
  if (checked?.type === 'unusable') return finished({ type: 'failed', output: { text: checked.message } })

  // After a restart, a call whose subagent waits for an approval is on record as started.
  const isResumed = findCall(deps.state(), call)?.status === 'started'
  const begin = async (process?: ProcessMark) => {
    if (isResumed) return
    const facts = await factsOf(deps, origin.workdir, tool, { call, args })
    const started = await report({ type: 'tool.starting', call, facts, process: process ?? null })
    const isStarted = findCall(deps.state(), call)?.status === 'started'
    if (!started.ok || signal.aborted || !isStarted) throw new NotWanted(`call ${call} is no longer wanted`)
  }
  try {
    await lookAtRunning(deps)
    const result = await tool.run(args, toolContext(deps), {
      signal,
      contentHash: checked?.contentHash,
      begin,
      show: (text) => {
        // Late output of an aborted call is dropped: nothing would remove it from a screen.
        if (!signal.aborted) deps.hub.show({ step, part: call, kind: 'output', call, tool: name }, text)
      },
      ask: createAsk(deps, call, { signal, report }),
      session: {
        todos: deps.state().todos,
        skills: deps.state().skills,
        serversOff: deps.state().settings.serversOff ?? [],
        offered: () => findOffered(deps.tools, origin, deps.state().settings),
        subagents: deps.subagents && {
          isStarted: isResumed,
          run: (request) => subagentFor(deps, call, request, { signal, report }),
        },
      },
      storeOutput: (output, toText) => storeOutput(deps.blobs, output, deps.storage.insist, toText),
      storeFile: (bytes, name) => storeFile(deps, bytes, name),
      blobs: blobsFor(deps),
      recordLater: (look) => recordLater(deps, { call, look, report }),
    })
    const durationMs = elapsedMs()
    const reviewed = signal.aborted
      ? null
      : await reviewResult(deps, { call, tool: name, args }, { result, durationMs }, signal)
    if (reviewed && !signal.aborted) return finished(reviewed.result, durationMs, reviewed.hooks)
    // The call is settled as interrupted; what it did to files is still recorded, and a process that got away reported.
    if (result.files !== undefined && result.files.length > 0)
      await report({ type: 'files.found', call, files: result.files })
    if (result.leftRunning !== undefined)
      await report({ type: 'process.escaped', tool: name, text: result.leftRunning })
    return null
  } catch (cause) {
    if (signal.aborted || cause instanceof NotWanted) return null
    // A tool that throws is a failed call, never a crash.
    deps.onProblem({ where: `tool ${name}`, cause })
    const text = `The tool ${name} failed: ${errorMessage(cause)}`
    return finished({ type: 'failed', output: { text } })
  }
}

/** Starts a subagent for a call, or waits on for it. */
function subagentFor(deps: EffectDeps, call: CallId, request: SubagentRequest, run: EffectRun): Promise<ToolResult> {
  invariant(deps.subagents, 'subagents can be started here')
  return deps.subagents.run(deps, call, request, run)
}

/**
 * Compares what running commands did to files with edit boundaries. Call it before lines are counted in new content: what a
 * command changed until then would no longer be found.
 */
export async function lookAtRunning({ tools: { background }, session, state }: EffectDeps): Promise<void> {
  if (background && state().boundaries.length > 0 && background.running(session).length > 0)
    await background.look(session)
}

/** Returns the files of the session, for one call of a tool that runs in it. */
export function blobsFor(deps: EffectDeps): ToolBlobs {
  const stored = new Set<BlobHash>() // the session refers to them only once the result does
  return {
    async put(bytes) {
      const blob = orThrow(await deps.blobs.put([bytes]))
      stored.add(blob.hash)
      return blob
    },
    open: async (hash) => orThrow(await openBlob(deps, deps.session, hash, stored)),
  }
}

type LateWork = { readonly call: CallId; readonly look: LookLater; readonly report: EffectRun['report'] }

/** Records what a command in the background did to files. Its call was settled when it began. */
async function recordLater(deps: EffectDeps, { call, look, report }: LateWork): Promise<void> {
  try {
    const signal = AbortSignal.timeout(limits.stopWaitMs) // nothing else ends the comparison of a large file
    const left = async () => {
      const changes = await readPathChanges(deps.store, deps.session, { after: call, upTo: deps.state().seq })
      const paths = new Map<string, LeftPath>()
      // What was recorded after its call may have happened at any time since then.
      for (const { path, before, after, isLate } of changes)
        paths.set(path, {
          found: paths.has(path) ? (paths.get(path)?.found ?? null) : isLate ? null : before,
          left: after,
        })
      return paths
    }
    const { files, notice } = await look(toolContext(deps), { signal, blobs: blobsFor(deps), left })
    if (files.length > 0) await report({ type: 'files.found', call, files, notice })
  } catch (cause) {
    deps.onProblem({ where: `what call ${call} did in the background`, cause })
  }
}

type BoundCall = {
  readonly call: CallId
  readonly tool: Tool
  readonly args: ToolArgs
  readonly contentHash: BlobHash
}

/**
 * Prepares an approved call again. If the content it depends on is another now, the session decides whether it still may
 * run; otherwise it was settled, or a person is asked again.
 */
async function checkContent(
  deps: EffectDeps,
  { call, tool, args, contentHash }: BoundCall,
  { signal, report }: EffectRun,
): Promise<Prepared | 'not wanted'> {
  const { origin } = deps.state()
  invariant(origin, 'a call needs a started session')
  // What the model had seen was checked when the call was prepared first. What changed since is shown to a person instead.
  const prepared = await tool.prepare(args, { ...toolContext(deps), seen: undefined, approved: contentHash }, signal)
  if (signal.aborted) return 'not wanted'
  if (prepared.type === 'unusable' || prepared.contentHash === contentHash) return prepared
  const facts = withReason(await factsOf(deps, origin.workdir, tool, { call, args }), prepared.alwaysAsk)
  const found = await toReport(deps, prepared, facts, signal)
  const reported = await report({ type: 'call.changed', call, found, atMs: deps.clock.now() })
  const mayRun = reported.ok && !signal.aborted && findCall(deps.state(), call)?.status === 'approved'
  return mayRun ? prepared : 'not wanted'
}

/** Ends processes that a dead owner of the session left running, before their calls are settled. */
export async function endLeftovers({ turn }: SessionState, tools: Pick<Tools, 'endLeftover'>): Promise<void> {
  if (turn.phase !== 'acting') return
  const marks = turn.calls.flatMap((call) => (call.status === 'started' && call.process ? [call.process] : []))
  await Promise.all(marks.map((mark) => tools.endLeftover(mark)))
}
