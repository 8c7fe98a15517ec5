import { entriesOf } from '@holdfast/client'
import { type Answer, contentText } from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import type { ArgsOf } from '../command-table.ts'
import { readCommand } from '../command-words.ts'
import { type Ended, misused } from '../ended.ts'
import { giveCommand } from '../give-command.ts'
import { toJsonText } from '../json-text.ts'
import type { Place } from '../place.ts'

export async function tell({ words, flags }: ArgsOf<'tell'>, place: Place): Promise<Ended> {
  const [name = '', type = '', ...fields] = words
  const read = readCommand(type, fields)
  if (read.type === 'misused') return misused(read.message)
  return giveCommand(name, read.command, (answer) => tellAnswer(answer, read.command.type, flags.json, place), place)
}

async function tellAnswer(answer: Answer, type: string, isJson: boolean, { out }: Place): Promise<void> {
  if (isJson) return out.write(`${toJsonText(answer)}\n`)
  const { queued, entries: _, ...rest } = answer.result
  const how = typeof queued === 'string' ? `, queued as ${escapeLine(queued)}` : ''
  await out.write(`${type} accepted at ${answer.seq}${how}.\n`)
  for (const { id, queue, content } of entriesOf(answer.result))
    await out.write(`took back ${id}, ${queue}: ${escapeHidden(contentText(content))}\n`)
  for (const [name, value] of Object.entries(rest))
    await out.write(`${escapeLine(name)}: ${typeof value === 'string' ? escapeHidden(value) : toJsonText(value)}\n`)
}
