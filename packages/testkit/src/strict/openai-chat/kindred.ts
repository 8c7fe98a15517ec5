import { complaintIn, firstComplaint } from '../base/first-complaint.ts'
import type { ChatMessage, ChatRequest } from './wire.ts'

/** What services that speak like OpenAI are particular about, each told by the name of its models. */
export const kindredComplaint = ({ model, messages }: ChatRequest): string | null => {
  if (/^(mistral|codestral|magistral|devstral)/.test(model)) return mistralComplaint(messages)
  return /^deepseek/.test(model) ? complaintIn(messages, missingReasoning) : null
}

const mistralComplaint = (messages: readonly ChatMessage[]): string | null =>
  firstComplaint(
    () =>
      complaintIn(messages, (message) =>
        complaintIn(idsIn(message), (id) =>
          /^[a-zA-Z0-9]{9}$/.test(id) ? null : `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`,
        ),
      ),
    () =>
      complaintIn(messages, ({ role }, index) =>
        role === 'user' && messages[index - 1]?.role === 'tool' ? "Unexpected role 'user' after role 'tool'" : null,
      ),
  )

function idsIn(message: ChatMessage): readonly string[] {
  if (message.role === 'tool') return [message.tool_call_id]
  return message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : []
}

/** It thinks unless it is told not to, and wants to have back what it thought before it called. */
function missingReasoning(message: ChatMessage, index: number): string | null {
  if (message.role !== 'assistant' || (message.tool_calls ?? []).length === 0) return null
  if (message.reasoning_content !== undefined) return null
  return `Missing \`reasoning_content\` field in the assistant message at message index ${index}.`
}
