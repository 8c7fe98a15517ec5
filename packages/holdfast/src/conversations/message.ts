import { explainIssue, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'

/** A message of a program's own conversation. Other fields are stored too if they are JSON, and returned unchanged. */
export type ConversationMessage = {
  /** Who wrote it; `tool` for the result of a call. */
  readonly role: 'user' | 'assistant' | 'system' | 'tool'
  /** Its text; may be empty. */
  readonly content: string
  /** The calls of an assistant: `{id, tool, args}`, or as services write it, `{id, function: {name, arguments}}`. */
  readonly toolCalls?: readonly unknown[] | undefined
  /** The call that a tool result answers. */
  readonly toolCallId?: string | undefined
  readonly [other: string]: unknown
}

const Form = z
  .object({
    role: z.enum(['user', 'assistant', 'system', 'tool']),
    content: z.string(),
    toolCalls: z.array(z.json()).optional(),
    toolCallId: z.string().optional(),
  })
  .catchall(z.json().optional())

/** A private copy of a message, and its length as JSON. */
type ParsedMessage = { readonly message: ConversationMessage; readonly chars: number }

/** Validates and copies a message. Faults: bad_request, too_large. */
export function parseMessage(value: unknown): Result<ParsedMessage> {
  try {
    const read = Form.safeParse(value)
    if (!read.success) return refuse(fault('bad_request', `This is not a message: ${explainIssue(read.error)}.`))
    const { content, ...rest } = read.data
    const charsMax = limits.promptBytesMax
    if (content.length > charsMax || JSON.stringify(rest).length > charsMax) {
      return refuse(fault('too_large', `A message may have at most ${charsMax} characters.`, { charsMax }))
    }
    const json = JSON.stringify(value)
    return ok({ message: JSON.parse(json) as ConversationMessage, chars: json.length }) // validated: all JSON
  } catch (cause) {
    // Nested too deeply.
    const why = cause instanceof Error ? cause.message : String(cause)
    return refuse(fault('bad_request', `This message cannot be read: ${why}`))
  }
}
