import { invariant, type Outcome, type ProcessMark } from '@holdfast/protocol'
import type { ToolResult, Tools } from '../../ports/tool.ts'
import type { Report } from '../../session/input.ts'
import type { EffectOf } from '../../session/plan.ts'
import type { SessionState } from '../../session/state.ts'
import { storeOutput } from '../blobs/store-output.ts'
import type { EffectDeps, EffectRun } from '../dependencies.ts'
import { factsOf, hashArgs, readCall } from './prepare-call.ts'

/** Thrown when the call was aborted between its approval and its start. */
class NotWanted extends Error {
  override readonly name = 'NotWanted'
}

/** Runs a call exactly as approved, once its start is on stable storage. */
export async function runTool(
  deps: EffectDeps,
  { call, tool: name, argsHash }: EffectOf<'run-tool'>,
  { signal, report }: EffectRun,
): Promise<Report | null> {
  const { origin, turn } = deps.state()
  invariant(origin && turn.phase === 'acting', 'a tool runs in a round')
  const { step } = turn
  const startedMs = deps.clock.now()
  const finished = ({ type, output, files = [] }: ToolResult): Report => {
    const outcome: Outcome = { type, output }
    return { type: 'tool.finished', call, outcome, durationMs: Math.max(0, deps.clock.now() - startedMs), files }
  }

  const tool = deps.tools.find(name)
  const { args } = await readCall(deps, call)
  if (!tool) return finished({ type: 'failed', output: { text: `The tool ${name} no longer exists.` } })
  invariant(hashArgs(name, args) === argsHash, `call ${call} is not what was approved`)

  const begin = async (process?: ProcessMark) => {
    const facts = await factsOf(deps, origin.workdir, tool, args)
    const started = await report({ type: 'tool.starting', call, facts, process: process ?? null })
    const now = deps.state().turn
    const isStarted = now.phase === 'acting' && now.calls.some(({ id, status }) => id === call && status === 'started')
    if (!started.ok || signal.aborted || !isStarted) throw new NotWanted(`call ${call} is no longer wanted`)
  }
  try {
    const result = await tool.run(
      args,
      { workdir: origin.workdir },
      {
        signal,
        begin,
        show: (text) => {
          // Late output of an aborted call is dropped: nothing would remove it from a screen.
          if (!signal.aborted) deps.hub.show({ step, part: call, kind: 'output', call, tool: name }, text)
        },
        storeOutput: (output) => storeOutput(deps.blobs, output, deps.storage.insist),
      },
    )
    if (!signal.aborted) return finished(result)
    // The call is settled as interrupted; a process that got away is still reported.
    if (result.leftRunning !== undefined)
      await report({ type: 'process.escaped', tool: name, text: result.leftRunning })
    return null
  } catch (cause) {
    if (signal.aborted || cause instanceof NotWanted) return null
    // A tool that throws is a failed call, never a crash.
    deps.onProblem({ where: `tool ${name}`, cause })
    const text = `The tool ${name} failed: ${cause instanceof Error ? cause.message : String(cause)}`
    return finished({ type: 'failed', output: { text } })
  }
}

/** Ends processes that a dead owner of the session left running, before their calls are settled. */
export async function endLeftovers({ turn }: SessionState, tools: Pick<Tools, 'endLeftover'>): Promise<void> {
  if (turn.phase !== 'acting') return
  const marks = turn.calls.flatMap((call) => (call.status === 'started' && call.process ? [call.process] : []))
  await Promise.all(marks.map((mark) => tools.endLeftover(mark)))
}
