import {
  Command,
  type CommandInput,
  type CommandType,
  commandTypes,
  Decision,
  explainIssue,
  Queue,
  TrustScope,
  unknownCommand,
} from '@holdfast/protocol'
import { didYouMean } from '@holdfast/protocol/nearest'
import { rejectUsage } from '../../terminal/exit.ts'

/** Parses a session's command from its name and `name=value` pairs. A value that is JSON is read as JSON, else as text. */
export function parseTellCommand(name: string, pairs: readonly string[]): CommandInput {
  if (!isCommandType(name)) return rejectUsage(unknownCommand(name))
  const schemas = fieldSchemas(name)
  const known = Object.keys(schemas)
  const fields: Record<string, unknown> = { type: name }
  for (const pair of pairs) {
    const [field = ''] = pair.split('=', 1)
    if (!known.includes(field)) {
      const hint = known.length === 0 ? ` ${name} takes no fields.` : ` Its fields are ${known.join(', ')}.`
      rejectUsage(`${name} has no field '${field}'.${didYouMean(field, known) || hint}`)
    }
    if (field === pair) rejectUsage(`${field} needs a value: ${field}=….`)
    fields[field] = parseValue(field, schemas[field], pair.slice(field.length + 1))
  }
  const missing = known.find((field) => !(field in fields) && !schemas[field]?.safeParse(undefined).success)
  if (missing !== undefined) rejectUsage(`${name} needs ${missing}: ${exampleOf(missing)}.`)
  const parsed = Command.safeParse(fields)
  return parsed.success ? parsed.data : rejectUsage(`${name}: ${explainIssue(parsed.error)}.`)
}

const isCommandType = (name: string): name is CommandType => commandTypes.some((type) => type === name)

type Field = { safeParse(value: unknown): { readonly success: boolean } }

/** Returns the schemas of a command's fields, without its type. */
export function fieldSchemas(name: CommandType): Readonly<Record<string, Field>> {
  const option = Command.options.find(({ shape }) => shape.type.value === name)
  const { type, ...fields } = option?.shape ?? {}
  return fields
}

const choices: Readonly<Record<string, readonly string[]>> = {
  decision: Decision.options,
  scope: TrustScope.options,
  queue: Queue.options,
}

const exampleOf = (field: string): string => (choices[field] ?? ['…']).map((value) => `${field}=${value}`).join(' or ')

/** Fields whose value stays text even if it looks like JSON. Of these, only a prompt may also be a list of parts. */
const textFields = ['content', 'message', 'tool', 'client', 'argsHash', 'text', 'summary', 'title', 'workdir']

/** Returns a field's value. A prompt such as `42` or `true` stays text. */
function parseValue(field: string, schema: Field | undefined, text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  const isList = field === 'content' && Array.isArray(value)
  const isText = textFields.includes(field) && schema?.safeParse(text).success === true
  return isText && typeof value !== 'string' && !isList ? text : value
}
