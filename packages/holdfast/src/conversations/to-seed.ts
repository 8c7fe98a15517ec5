import { clip, limits, type SeedMessage } from '@holdfast/protocol'
import { z } from 'zod'
import type { ConversationMessage } from './message.ts'

type Call = NonNullable<Extract<SeedMessage, { role: 'assistant' }>['toolCalls']>[number]
type Given = NonNullable<SeedMessage['given']>

const nameCharsMax = 200
/** No call is known by it: the result of a call without a usable id answers none. */
const noCall = '\u0000'

/**
 * The message as a session takes it. It cannot be refused: what of it no model could be told is kept, and told to nobody.
 */
export function toSeed(message: ConversationMessage): SeedMessage {
  const { role, content } = message
  const given = givenOf(message)
  switch (role) {
    case 'user':
    case 'system':
      return { role, content, given }
    case 'assistant':
      return { role, content, toolCalls: callsOf(message.toolCalls ?? []), given }
    case 'tool': {
      const { toolCallId = '', isError } = message
      const isUsable = isCallId(toolCallId)
      return { role, content, toolCallId: isUsable ? toolCallId : noCall, isError: isError === true, given }
    }
  }
}

/** Nothing, where role and content say it all. */
function givenOf(message: ConversationMessage): Given {
  const { role, content } = message
  const isBare = Object.keys(message).join() === 'role,content' && role !== 'tool'
  const isPlain = isBare && (role !== 'assistant' || content !== '')
  const given: Readonly<Record<string, unknown>> = { ...message, content: null }
  return isPlain ? {} : (given as Given) // it was checked when it came: JSON all through
}

const isCallId = (id: string): boolean => id !== '' && id.length <= nameCharsMax && id !== noCall

const Fields = z.looseObject({})
const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => {
  const read = Fields.safeParse(value)
  return read.success ? read.data : {}
}

/** The calls that can be told to a model, each id once. */
function callsOf(given: readonly unknown[]): Call[] {
  const calls = new Map<string, Call>()
  for (const one of given) {
    const call = fieldsOf(one)
    const wanted = fieldsOf(call['function'])
    const { id } = call
    const tool = [call['tool'], wanted['name'], call['name']].find((name) => typeof name === 'string' && name !== '')
    if (typeof id !== 'string' || !isCallId(id) || typeof tool !== 'string' || calls.has(id)) continue
    const args = argsOf(call['args'] ?? wanted['arguments'] ?? call['arguments'] ?? call['input'] ?? {})
    calls.set(id, { id, tool: clip(tool, nameCharsMax), args })
  }
  return [...calls.values()].slice(0, limits.callsPerRoundMax)
}

const Args = z.record(z.string(), z.json())

/** Services write arguments as the text of an object; what is no object becomes the one argument. */
function argsOf(value: unknown): Call['args'] {
  const read = Args.safeParse(typeof value === 'string' ? parsed(value) : value)
  if (read.success) return read.data
  return { input: z.json().catch(null).parse(value) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
