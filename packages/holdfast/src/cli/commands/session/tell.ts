import {
  type Answer,
  type CommandInput,
  commandResult,
  contentText,
  orThrow,
  type Permission,
} from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-spec.ts'
import { checkNamed, withSessions } from '../../connect/connect.ts'
import { openNamed } from '../../connect/session-name.ts'
import { leaveOwned, tellBackground } from '../../sessions/leave-session.ts'
import { runTurn, type TurnCommand } from '../../sessions/run-turn.ts'
import { submitCommand } from '../../sessions/submit-command.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { type CommandResult, rejectUsage } from '../../terminal/exit.ts'
import { type Output, toJsonText } from '../../terminal/output.ts'
import { openAnswerPrinter } from './run.ts'
import type { sessionSpecs } from './specs.ts'
import { parseTellCommand } from './tell-command.ts'

export const run: RunCommand<typeof sessionSpecs.tell> = async (
  { positionals: [name = '', type = '', ...pairs], flags },
  context,
) => {
  const command = parseTellCommand(type, pairs)
  if (command.type === 'claimDriver' || command.type === 'handOver')
    return rejectUsage(`tell cannot send ${command.type}. Use the page or an attached client.`)
  if (hasTurn(command) && !flags['no-wait'] && !flags.json) return showTurn(name, command, context)
  const { out } = context
  const print = (answer: Answer) => (flags.json ? out.writeJson(answer) : printAnswer(answer, out))
  return submitCommand(name, command, print, context)
}

/** Returns whether a turn starts or goes on after the command. */
const hasTurn = (command: CommandInput): command is TurnCommand =>
  ['sendPrompt', 'continue', 'queueSteering', 'queueFollowUp', 'respondToApproval'].includes(command.type)

/** Sends a command that starts a turn or lets one go on, and shows the turn as `run` does. */
async function showTurn(name: string, command: TurnCommand, context: CliContext): Promise<CommandResult> {
  checkNamed(context, name)
  const interruption = context.untilInterrupted()
  return withSessions(context, async ({ sessions, isHere }) => {
    const handle = orThrow(await openNamed(sessions, context, name))
    const markdown = await openAnswerPrinter(context)
    const options = {
      approvals: { by: 'person', unattended: 'leave' },
      queued: 'say',
      isNew: false,
      isJson: false,
      context,
      markdown,
      interruption,
      // Not between the words of the answer, which go to standard output.
      onAnswered: (answer: Answer) => printAnswer(answer, context.err),
    } as const
    const code = orThrow(await runTurn(handle, command, options))
    if (isHere(handle.id)) await leaveOwned(handle, context, interruption)
    else await tellBackground(handle, context)
    return code
  })
}

async function printAnswer(answer: Answer, out: Output): Promise<void> {
  const { queued, entries: _, rule: _rule, ...rest } = answer.result
  const how = typeof queued === 'string' ? `, queued as ${escapeLine(queued)}` : ''
  await out.write(`Accepted (seq ${answer.seq})${how}.\n`)
  for (const { id, queue, content } of commandResult('recallQueues', answer).entries)
    await out.write(`removed ${id} from ${queue}: ${escapeHidden(contentText(content))}\n`)
  const { rule } = commandResult('respondToApproval', answer)
  if (rule)
    await out.write(`Stored a rule for this folder: ${ruleText(rule)}. holdfast permissions lists and removes it.\n`)
  for (const [name, value] of Object.entries(rest))
    await out.write(`${escapeLine(name)}: ${typeof value === 'string' ? escapeHidden(value) : toJsonText(value)}\n`)
}

const ruleText = ({ verdict, tool, pattern }: Permission): string =>
  escapeLine([verdict, tool, pattern === undefined ? '(every call)' : pattern].join(' '))
