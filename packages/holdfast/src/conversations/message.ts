import { errorMessage, explainIssue, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'

/** A message of a program's own conversation. Other fields are stored too if they are JSON, and returned unchanged. */
export type ConversationMessage = {
  /** `user`, `assistant`, `system` or `tool`; `developer` is a system message. Any other role is shown, but sent to no model. */
  readonly role: string
  /** Null as services write it for an answer with calls only; parts: their texts are shown and sent. */
  readonly content: string | null | readonly unknown[]
  /** The calls of an assistant: `{id, tool, args}`, or as services write it, `{id, function: {name, arguments}}`. */
  readonly toolCalls?: readonly unknown[] | undefined
  /** The same, as services write it. */
  readonly tool_calls?: readonly unknown[] | null | undefined
  /** The call that a tool result answers. */
  readonly toolCallId?: string | undefined
  /** The call that a tool result answers, as services write it. */
  readonly tool_call_id?: string | null | undefined
  readonly [other: string]: unknown
}

const roleCharsMax = 64

const Form = z
  .object({
    role: z.string().min(1).max(roleCharsMax),
    content: z.union([z.string(), z.null(), z.array(z.json())]),
    toolCalls: z.array(z.json()).optional(),
    tool_calls: z.array(z.json()).nullish(),
    toolCallId: z.string().optional(),
    tool_call_id: z.string().nullish(),
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
    const contentChars = typeof content === 'string' ? content.length : JSON.stringify(content).length
    if (contentChars > charsMax || JSON.stringify(rest).length > charsMax) {
      return refuse(fault('too_large', `A message may have at most ${charsMax} characters.`, { charsMax }))
    }
    const json = JSON.stringify(value)
    return ok({ message: JSON.parse(json) as ConversationMessage, chars: json.length }) // validated: all JSON
  } catch (cause) {
    // Nested too deeply.
    const why = errorMessage(cause)
    return refuse(fault('bad_request', `This message cannot be read: ${why}`))
  }
}
