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
  const { role, content } = message
  const given = toGivenMessage(message)
  switch (role) {
    case 'user':
    case 'system':
      return { role, content, given }
    case 'assistant':
      return { role, content, toolCalls: toCalls(message.toolCalls ?? []), given }
    case 'tool': {
      const { toolCallId = '', isError } = message
      const isUsable = isCallId(toolCallId)
      return { role, content, toolCallId: isUsable ? toolCallId : noCall, isError: isError === true, given }
    }
  }
}

/** Returns the original message; empty if role and content are all of it. */
function toGivenMessage(message: ConversationMessage): Given {
  const { role, content } = message
  const hasNoExtras = Object.keys(message).join() === 'role,content' && role !== 'tool'
  const isPlain = hasNoExtras && (role !== 'assistant' || content !== '')
  const given: Readonly<Record<string, unknown>> = { ...message, content: null }
  return isPlain ? {} : (given as Given) // validated: all JSON
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
