import {
  type CommandId,
  type Content,
  type Fault,
  findTypedCommand,
  invariant,
  ok,
  type Result,
  refuse,
  type TypedCommand,
} from '@holdfast/protocol'
import type { ExpandedPiece } from '../../ports/guidance.ts'
import type { Facts } from '../../session/facts.ts'
import type { EffectDeps } from '../dependencies.ts'
import { runShell } from './run-shell.ts'

/** Returns why the prompt cannot be sent anyway; null if nothing is known against it. */
export type RefuseTurn = () => Promise<Fault | null>

/** How long all shell commands of a slash command may take together. */
const shellMsMax = 60_000

/**
 * Returns what a prompt that begins with a slash command becomes; nothing for any other prompt. Refused: command_not_found,
 * untrusted_workspace, bad_request if one of its shell commands may not run or fails, and what `refuseTurn` returns before any
 * of them runs.
 */
export async function expandPrompt(
  deps: EffectDeps,
  content: Content,
  commandId: CommandId,
  refuseTurn: RefuseTurn,
): Promise<Result<Pick<Facts, 'expanded'>>> {
  const command = findTypedCommand(content)
  if (command === null || !deps.commands) return ok({})
  const { origin, settings } = deps.state()
  invariant(origin, 'a prompt needs a started session')
  const { name, given, typed } = command
  const expansion = await deps.commands.expand({
    workdir: origin.workdir,
    name,
    given,
    serversOff: settings.serversOff ?? [],
  })
  if (!expansion.ok) return expansion
  if (expansion.value === null) return ok({})
  if (expansion.value.type === 'note') return ok({ expanded: { note: expansion.value.text, name } })
  const { pieces, skill } = expansion.value
  // A retry gets its first answer: the shell commands have run already.
  const runsShell = pieces.some(({ type }) => type === 'command')
  if (runsShell && (await deps.store.findCommand(deps.session, commandId)) !== null) return ok({})
  const refusal = runsShell ? await refuseTurn() : null
  if (refusal) return refuse(refusal)
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
    const added = piece.type === 'text' ? ok(piece.text) : await runShell(deps, command.name, piece.command, signal)
    if (!added.ok) return added
    text += added.value
  }
  return ok(text)
}
