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

export type ReadCommand =
  | { readonly type: 'command'; readonly command: CommandInput }
  | { readonly type: 'misused'; readonly message: string }

/** A session's command from words: its name, then `name=value`. A value that is JSON is taken as JSON, else as text. */
export function readCommand(name: string, words: readonly string[]): ReadCommand {
  const misused = (message: string): ReadCommand => ({ type: 'misused', message })
  if (!isCommandType(name)) return misused(unknownCommand(name))
  const fields: [string, unknown][] = [['type', name]]
  const shape = shapeOf(name)
  const known = Object.keys(shape)
  for (const word of words) {
    const at = word.indexOf('=')
    const field = at < 0 ? word : word.slice(0, at)
    if (!known.includes(field)) {
      const takes = known.length === 0 ? ` ${name} takes nothing.` : ` ${name} takes ${known.join(', ')}.`
      return misused(`Unknown field '${field}'.${didYouMean(field, known) || takes}`)
    }
    if (at < 0) return misused(`${field} needs a value: ${field}=….`)
    fields.push([field, readValue(field, shape[field], word.slice(at + 1))])
  }
  const missing = known.find(
    (field) => !fields.some(([given]) => given === field) && !shape[field]?.safeParse(undefined).success,
  )
  if (missing !== undefined) return misused(`${name} needs ${missing}: ${waysToGive(missing)}.`)
  const command: unknown = Object.fromEntries(fields)
  const parsed = Command.safeParse(command)
  if (!parsed.success) return misused(`${name}: ${explainIssue(parsed.error)}.`)
  return { type: 'command', command: parsed.data }
}

const isCommandType = (name: string): name is CommandType => commandTypes.some((type) => type === name)

type Field = { safeParse(value: unknown): { readonly success: boolean } }

/** The fields of a command besides its type. */
function shapeOf(name: CommandType): Readonly<Record<string, Field>> {
  const option = Command.options.find(({ shape }) => shape.type.value === name)
  const { type, ...fields } = option?.shape ?? {}
  return fields
}

const words: Readonly<Record<string, readonly string[]>> = {
  decision: Decision.options,
  scope: TrustScope.options,
  queue: Queue.options,
}

const waysToGive = (field: string): string => (words[field] ?? ['…']).map((value) => `${field}=${value}`).join(' or ')

/** Fields that are text whatever they look like, where the command takes a text; of these only a prompt may be a list, of parts. */
const textFields = ['content', 'message', 'tool', 'client', 'argsHash', 'text', 'summary', 'title', 'workdir']

/** A prompt that happens to be a number or `true` is still what a person wrote. */
function readValue(field: string, schema: Field | undefined, text: string): unknown {
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
