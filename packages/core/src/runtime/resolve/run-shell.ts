import { clip, escapeHidden, escapeLine, fault, noWorkdir, ok, type Result, refuse } from '@holdfast/protocol'
import { judge } from '../../policy/verdict.ts'
import type { Tool, ToolArgs, ToolResult } from '../../ports/tool.ts'
import { workdirNeeded } from '../../session/decide/prompt.ts'
import { storeOutput } from '../blobs/store-output.ts'
import type { EffectDeps } from '../dependencies.ts'
import { isOffered } from '../effects/offered-tools.ts'
import { factsOf, toolContext } from '../effects/prepare-call.ts'
import { runHooks } from '../effects/run-hooks.ts'
import { blobsFor, lookAtRunning } from '../effects/run-tool.ts'

/** How much of the output of a failed command its fault quotes. */
const quotedCharsMax = 1000

/**
 * Runs a shell command of a slash command by the tool, if no person has to be asked: there is no call that could wait for an
 * answer. What it does to files is on record before this resolves. Refused: bad_request, workdir_needed.
 */
export async function runShell(
  deps: EffectDeps,
  name: string,
  command: string,
  signal: AbortSignal,
): Promise<Result<string>> {
  const { origin } = deps.state()
  const tool = deps.tools.find('shell')
  const refuseIt = (why: string) =>
    refuse(fault('bad_request', `/${name} runs ${escapeLine(command)}, ${why}`, { name, command }))
  if (!tool || !origin || !isOffered(origin, tool)) return refuseIt('but this session has no shell.')
  if (origin.workdir === noWorkdir) return refuse(workdirNeeded)
  const args = { command }
  const refusal = await findRefusal(deps, tool, args, signal)
  if (refusal !== null) return refuseIt(refusal)
  await lookAtRunning(deps)
  const ran = await tool.run(args, toolContext(deps), {
    signal,
    begin: async () => undefined,
    show: () => undefined,
    storeOutput: (output, toText) => storeOutput(deps.blobs, output, deps.storage.insist, toText),
    blobs: blobsFor(deps),
  })
  const recorded = await recordRun(deps, name, ran)
  if (!recorded.ok) return recorded
  if (ran.type === 'ok') return ok(ran.output.text.trimEnd())
  return refuseIt(`which failed: ${escapeHidden(clip(ran.output.text, quotedCharsMax))}`)
}

/** Returns why the command must not run, as the end of a sentence; null if it may. */
async function findRefusal(deps: EffectDeps, tool: Tool, args: ToolArgs, signal: AbortSignal): Promise<string | null> {
  const hooked = await runHooks(deps, { event: 'PreToolUse', call: null, tool: 'shell', args }, signal)
  const veto = hooked?.answer.block ?? hooked?.answer.stop ?? null
  if (veto !== null) return `but a hook refuses it: ${escapeLine(veto)}`
  if (hooked?.answer.args || hooked?.answer.permission === 'ask') return 'but a hook would change it or ask about it.'
  const context = toolContext(deps)
  const verdict = judge(await factsOf(deps, context.workdir, tool, { call: null, args }), deps.state())
  if (verdict.type === 'deny') return `but ${escapeLine(verdict.message)}.`
  if (verdict.type === 'ask') return 'which no rule allows yet. Allow it with holdfast permissions add allow shell.'
  const prepared = await tool.prepare(args, context, signal)
  if (prepared.type === 'unusable') return `but ${escapeLine(prepared.message)}`
  return prepared.alwaysAsk === undefined ? null : `but a person is asked each time: ${escapeLine(prepared.alwaysAsk)}.`
}

/** Records what the command did, also if its prompt is refused: it can be seen, and put back. */
async function recordRun(deps: EffectDeps, name: string, ran: ToolResult): Promise<Result<unknown>> {
  const { files = [], leftRunning } = ran
  const isBreach = files.some(({ outside }) => outside)
  const notice = isBreach ? `/${name}: ${ran.output.text}` : undefined
  const escaped =
    leftRunning === undefined
      ? ok(null)
      : await deps.record({ type: 'process.escaped', tool: 'shell', text: leftRunning })
  if (!escaped.ok || files.length === 0) return escaped
  return deps.record({ type: 'files.found', slashCommand: name, files, notice })
}
