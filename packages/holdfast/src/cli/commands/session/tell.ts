import { entriesOf } from '@holdfast/client'
import { type Answer, contentText } from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { readCommand } from '../../args/command-fields.ts'
import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { giveCommand } from '../../sessions/submit-command.ts'
import { type Ended, misused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'

export async function tell({ words, flags }: ArgsOf<'tell'>, place: CliContext): Promise<Ended> {
  const [name = '', type = '', ...fields] = words
  const read = readCommand(type, fields)
  if (read.type === 'misused') return misused(read.message)
  return giveCommand(name, read.command, (answer) => tellAnswer(answer, read.command.type, flags.json, place), place)
}

async function tellAnswer(answer: Answer, type: string, isJson: boolean, { out }: CliContext): Promise<void> {
  if (isJson) return out.write(`${toJsonText(answer)}\n`)
  const { queued, entries: _, ...rest } = answer.result
  const how = typeof queued === 'string' ? `, queued as ${escapeLine(queued)}` : ''
  await out.write(`${type} accepted at ${answer.seq}${how}.\n`)
  for (const { id, queue, content } of entriesOf(answer.result))
    await out.write(`took back ${id}, ${queue}: ${escapeHidden(contentText(content))}\n`)
  for (const [name, value] of Object.entries(rest))
    await out.write(`${escapeLine(name)}: ${typeof value === 'string' ? escapeHidden(value) : toJsonText(value)}\n`)
}
