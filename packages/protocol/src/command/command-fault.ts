import type { z } from 'zod'
import { clip } from '../event/text-of.ts'
import { explainIssue, placeIssue } from '../text/explain.ts'
import { escapeLine } from '../text/hostile-text.ts'
import { fault } from '../value/fault.ts'
import type { Fault } from '../value/fault-schema.ts'
import { ThinkingLevel } from '../value/settings.ts'

/** What is said to whoever sends something that is no command. A name that nobody knows has a code of its own. */
export function commandFault(sent: unknown, error: z.ZodError): Fault {
  const issues = error.issues.slice(0, 10).map(placeIssue)
  const level = fieldOf(sent, 'setThinkingLevel', 'level')
  if (level !== null) {
    const known = ThinkingLevel.options
    return fault('unknown_level', `There is no thinking level ${level}. There are: ${known.join(', ')}.`, { known })
  }
  const model = fieldOf(sent, 'setModel', 'model')
  if (model !== null) return fault('unknown_model', `There is no model ${model}: a model is named provider/model.`)
  return fault('bad_request', `That is no command: ${explainIssue(error)}.`, { issues })
}

/** The text that a command of this type gave for its only field, if it gave that and nothing else. */
function fieldOf(sent: unknown, type: string, field: string): string | null {
  if (typeof sent !== 'object' || sent === null) return null
  const { type: given, [field]: value, ...rest } = sent as Readonly<Record<string, unknown>> // any object has fields
  if (given !== type || typeof value !== 'string' || Object.keys(rest).length > 0) return null
  return escapeLine(clip(value, 100))
}
