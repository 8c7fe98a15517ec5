import { explainIssue, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'

/**
 * A message of a conversation that a program leads itself. Whatever else it holds is kept too, if it is JSON, and given
 * back as it was.
 */
export type ConversationMessage = {
  readonly role: 'user' | 'assistant' | 'system' | 'tool'
  readonly content: string
  /** What an assistant asks for: `{id, tool, args}`, or as services write it, `{id, function: {name, arguments}}`. */
  readonly toolCalls?: readonly unknown[] | undefined
  /** Which call a tool's result answers. */
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

/** A copy of a message, which nobody can change any more, and how long it is as JSON. */
export type ReadMessage = { readonly message: ConversationMessage; readonly chars: number }

/** Refused: bad_request, too_large. */
export function readMessage(value: unknown): Result<ReadMessage> {
  try {
    const read = Form.safeParse(value)
    if (!read.success) return refuse(fault('bad_request', `This is no message: ${explainIssue(read.error)}.`))
    const { content, ...rest } = read.data
    const charsMax = limits.promptBytesMax
    if (content.length > charsMax || JSON.stringify(rest).length > charsMax) {
      return refuse(fault('too_large', `A message may have ${charsMax} characters.`, { charsMax }))
    }
    const json = JSON.stringify(value)
    return ok({ message: JSON.parse(json) as ConversationMessage, chars: json.length }) // checked: JSON all through
  } catch (cause) {
    // Nested deeper than anyone can follow.
    const why = cause instanceof Error ? cause.message : String(cause)
    return refuse(fault('bad_request', `This message cannot be read: ${why}`))
  }
}
