import { clip, limits, type SeedMessage } from '@holdfast/protocol'
import { z } from 'zod'
import type { ConversationMessage } from './message.ts'

type Call = NonNullable<Extract<SeedMessage, { role: 'assistant' }>['toolCalls']>[number]
type Given = NonNullable<SeedMessage['given']>

const nameCharsMax = 200
/** Matches no call: used for a result without a valid call id. */
const noCall = '\u0000'

/** Converts a message for a session. It cannot fail: what cannot be sent to a model is stored and never sent. */
export function toSeed(message: ConversationMessage): SeedMessage {
  const { role } = message
  const content = textOf(message.content)
  const given = toGivenMessage(message)
  switch (role) {
    case 'user':
    case 'system':
      return { role, content, given }
    case 'developer':
      return { role: 'system', content, given }
    case 'assistant':
      return { role, content, toolCalls: toCalls(message.toolCalls ?? message.tool_calls ?? []), given }
    case 'tool': {
      const { toolCallId = message.tool_call_id ?? '', isError } = message
      const isUsable = isCallId(toolCallId)
      return { role, content, toolCallId: isUsable ? toolCallId : noCall, isError: isError === true, given }
    }
    default:
      // A result without a call is shown, but sent to no model.
      return { role: 'tool', content, toolCallId: noCall, given }
  }
}

const TextPart = z.object({ text: z.string() })

/** Returns the text of a message: for parts, their texts. */
function textOf(content: ConversationMessage['content']): string {
  if (typeof content === 'string' || content === null) return content ?? ''
  return content.flatMap((part) => TextPart.safeParse(part).data?.text ?? []).join('\n')
}

/** The roles of messages that are given back by their records alone. */
const plainRoles: readonly string[] = ['user', 'system', 'assistant']

/**
 * Returns the original message; empty if role and text are all of it. Its content is null if the records hold it as text,
 * and false if it was null.
 */
function toGivenMessage(message: ConversationMessage): Given {
  const { role, content } = message
  const hasNoExtras = Object.keys(message).join() === 'role,content' && plainRoles.includes(role)
  const isPlain = hasNoExtras && typeof content === 'string' && (role !== 'assistant' || content !== '')
  if (isPlain) return {}
  const kept = typeof content === 'string' ? null : (content ?? false)
  const given: Readonly<Record<string, unknown>> = { ...message, content: kept } // in the order of its fields
  return given as Given // validated: all JSON
}

const isCallId = (id: string): boolean => id !== '' && id.length <= nameCharsMax && id !== noCall

const Fields = z.looseObject({}).catch({})

/** Returns the calls that can be sent to a model, each id once. */
function toCalls(given: readonly unknown[]): Call[] {
  const calls = new Map<string, Call>()
  for (const one of given) {
    const call = Fields.parse(one)
    const wanted = Fields.parse(call['function'])
    const { id } = call
    const tool = [call['tool'], wanted['name'], call['name']].find((name) => typeof name === 'string' && name !== '')
    if (typeof id !== 'string' || !isCallId(id) || typeof tool !== 'string' || calls.has(id)) continue
    const args = toArgs(call['args'] ?? wanted['arguments'] ?? call['arguments'] ?? call['input'] ?? {})
    calls.set(id, { id, tool: clip(tool, nameCharsMax), args })
  }
  return [...calls.values()].slice(0, limits.callsPerRoundMax)
}

const Args = z.record(z.string(), z.json())

/** Parses arguments, which services write as JSON text; anything but an object becomes the `input` argument. */
function toArgs(value: unknown): Call['args'] {
  const read = Args.safeParse(typeof value === 'string' ? parseJson(value) : value)
  if (read.success) return read.data
  return { input: z.json().catch(null).parse(value) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
