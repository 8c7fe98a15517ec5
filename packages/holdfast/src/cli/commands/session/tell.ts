import { type Answer, commandResult, contentText } from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-spec.ts'
import { submitCommand } from '../../sessions/submit-command.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import { type Output, toJsonText } from '../../terminal/output.ts'
import type { sessionSpecs } from './specs.ts'
import { parseTellCommand } from './tell-command.ts'

export const run: RunCommand<typeof sessionSpecs.tell> = async (
  { positionals: [name = '', type = '', ...pairs], flags },
  context,
) => {
  const command = parseTellCommand(type, pairs)
  if (command.type === 'claimDriver' || command.type === 'handOver')
    return rejectUsage(`tell cannot send ${command.type}. Use the page or an attached client.`)
  const { out } = context
  const print = (answer: Answer) => (flags.json ? out.writeJson(answer) : printAnswer(answer, out))
  return submitCommand(name, command, print, context)
}

async function printAnswer(answer: Answer, out: Output): Promise<void> {
  const { queued, entries: _, ...rest } = answer.result
  const how = typeof queued === 'string' ? `, queued as ${escapeLine(queued)}` : ''
  await out.write(`Accepted (seq ${answer.seq})${how}.\n`)
  for (const { id, queue, content } of commandResult('recallQueues', answer).entries)
    await out.write(`removed ${id} from ${queue}: ${escapeHidden(contentText(content))}\n`)
  for (const [name, value] of Object.entries(rest))
    await out.write(`${escapeLine(name)}: ${typeof value === 'string' ? escapeHidden(value) : toJsonText(value)}\n`)
}
