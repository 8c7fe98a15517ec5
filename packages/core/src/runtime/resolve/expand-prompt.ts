import {
  type Content,
  escapeLine,
  fault,
  findTypedCommand,
  invariant,
  ok,
  type Result,
  refuse,
  type TypedCommand,
} from '@holdfast/protocol'
import { judge } from '../../policy/verdict.ts'
import type { ExpandedPiece } from '../../ports/slash-commands.ts'
import type { Facts } from '../../session/input.ts'
import { storeOutput } from '../blobs/store-output.ts'
import type { EffectDeps } from '../dependencies.ts'
import { isOffered } from '../effects/offered-tools.ts'
import { factsOf, toolContext } from '../effects/prepare-call.ts'
import { runHooks } from '../effects/run-hooks.ts'

/** How long all shell commands of a slash command may take together. */
const shellMsMax = 60_000

/**
 * Returns what a prompt that begins with a slash command becomes; nothing for any other prompt. Refused: command_not_found,
 * untrusted_workspace, and bad_request if one of its shell commands may not run or fails.
 */
export async function expandPrompt(deps: EffectDeps, content: Content): Promise<Result<Pick<Facts, 'expanded'>>> {
  const command = findTypedCommand(content)
  if (command === null || !deps.commands) return ok({})
  const { origin } = deps.state()
  invariant(origin, 'a prompt needs a started session')
  const { name, given, typed } = command
  const expansion = await deps.commands.expand({ workdir: origin.workdir, name, given })
  if (!expansion.ok) return expansion
  if (expansion.value.type === 'note') return ok({ expanded: { note: expansion.value.text, name } })
  const { pieces, skill } = expansion.value
  const text = await toText(deps, command, pieces)
  if (!text.ok) return text
  const rest = content.slice(1)
  return ok({ expanded: { content: [{ type: 'text', text: text.value }, ...rest], typed, ...(skill && { skill }) } })
}

/** Joins the pieces. Shell commands are run one after the other; what they print is not expanded again. */
async function toText(
  deps: EffectDeps,
  command: TypedCommand,
  pieces: readonly ExpandedPiece[],
): Promise<Result<string>> {
  const signal = AbortSignal.timeout(shellMsMax)
  let text = ''
  for (const piece of pieces) {
    const added = piece.type === 'text' ? ok(piece.text) : await runShell(deps, command, piece.command, signal)
    if (!added.ok) return added
    text += added.value
  }
  return ok(text)
}

/** Runs a shell command by the tool, if no person has to be asked: there is no call that could wait for an answer. */
async function runShell(
  deps: EffectDeps,
  { name }: TypedCommand,
  command: string,
  signal: AbortSignal,
): Promise<Result<string>> {
  const { origin } = deps.state()
  const tool = deps.tools.find('shell')
  const refuseIt = (why: string) =>
    refuse(fault('bad_request', `/${name} runs ${escapeLine(command)}, ${why}`, { name, command }))
  if (!tool || !origin || !isOffered(origin, tool)) return refuseIt('but this session has no shell.')
  const args = { command }
  const hooked = await runHooks(deps, { event: 'PreToolUse', call: null, tool: 'shell', args }, signal)
  const veto = hooked?.answer.block ?? hooked?.answer.stop ?? null
  if (veto !== null) return refuseIt(`but a hook refuses it: ${escapeLine(veto)}`)
  if (hooked?.answer.args || hooked?.answer.permission === 'ask')
    return refuseIt('but a hook would change it or ask about it.')
  const verdict = judge(await factsOf(deps, origin.workdir, tool, { call: null, args }), deps.state())
  if (verdict.type === 'deny') return refuseIt(`but ${escapeLine(verdict.message)}.`)
  if (verdict.type === 'ask')
    return refuseIt('which no rule allows yet. Allow it with holdfast permissions add allow shell.')
  const ran = await tool.run(args, toolContext(deps), {
    signal,
    begin: async () => undefined,
    show: () => undefined,
    storeOutput: (output, toText) => storeOutput(deps.blobs, output, deps.storage.insist, toText),
  })
  return ran.type === 'ok' ? ok(ran.output.text.trimEnd()) : refuseIt(`which failed: ${ran.output.text}`)
}
