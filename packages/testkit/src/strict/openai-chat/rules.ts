import { complaintIn, firstComplaint } from '../base/complaints.ts'
import { argumentsComplaint, emptyArray, emptyText, nameComplaint, tooLong } from '../base/openai.ts'
import type { ChatMessage, ChatRequest, WireToolCall } from './wire.ts'

const callIdCharsMax = 40
/** Returns whether a model is of a family without reasoning. */
const isWithoutReasoning = (model: string): boolean => /^(chat)?gpt-[34]/.test(model)

/** Returns the first error of OpenAI's Chat Completions API for a history, with its own message, or null. */
export const complaintAbout = (request: ChatRequest): string | null => {
  const { model, messages, reasoning_effort: effort, tools = [] } = request
  return firstComplaint(
    effort !== undefined && isWithoutReasoning(model)
      ? 'Unrecognized request argument supplied: reasoning_effort'
      : null,
    messages.length === 0 ? emptyArray('messages') : null,
    () => complaintIn(tools, (tool, index) => nameComplaint(`tools[${index}].function.name`, tool.function.name)),
    () => complaintIn(messages, emptiness),
    () => complaintIn(messages, (message, index) => complaintIn(callsOf(message), callAt(index))),
    () => repeatedIds(messages),
    () => strayResults(messages),
    () => orphanCalls(messages),
    () => kindredComplaint(request),
  )
}

const callsOf = (message: ChatMessage): readonly WireToolCall[] =>
  message.role === 'assistant' ? (message.tool_calls ?? []) : []

function emptiness(message: ChatMessage, index: number): string | null {
  const at = `messages[${index}].content`
  if (message.role === 'tool') return null // the result of a tool may be empty
  if (message.role === 'assistant') {
    if (message.tool_calls?.length === 0) return emptyArray(`messages[${index}].tool_calls`)
    if (callsOf(message).length > 0 && (message.content ?? null) === null) return null
  }
  const { content } = message
  if (content === null || content === undefined) {
    return `Invalid value for 'content': expected a string, got null.`
  }
  if (content === '') return emptyText(at)
  if (content.length === 0) return emptyArray(at)
  if (typeof content === 'string') return null
  return complaintIn(content, (part, n) =>
    part.type === 'text' && part.text === '' ? emptyText(`${at}[${n}].text`) : null,
  )
}

const callAt = (message: number) => (call: WireToolCall, index: number) => {
  const at = `messages[${message}].tool_calls[${index}]`
  return firstComplaint(
    call.id === '' ? emptyText(`${at}.id`) : tooLong(`${at}.id`, call.id, callIdCharsMax),
    nameComplaint(`${at}.function.name`, call.function.name),
    argumentsComplaint(`${at}.function.arguments`, call.function.arguments),
  )
}

/** Rejects an id that has two results or belongs to two calls. */
function repeatedIds(messages: readonly ChatMessage[]): string | null {
  const called = new Map<string, number>()
  const answered = new Map<string, number>()
  const repeat = (seen: Map<string, number>, id: string, index: number) => {
    const first = seen.get(id)
    seen.set(id, index)
    if (first === undefined) return null
    return `Invalid parameter: Duplicate value for 'tool_call_id' of '${id}', in messages[${first}] and messages[${index}].`
  }
  return complaintIn(messages, (message, index) =>
    message.role === 'tool'
      ? repeat(answered, message.tool_call_id, index)
      : complaintIn(callsOf(message), ({ id }) => repeat(called, id, index)),
  )
}

function strayResults(messages: readonly ChatMessage[]): string | null {
  let open: readonly string[] = []
  return complaintIn(messages, (message) => {
    if (message.role !== 'tool') {
      open = callsOf(message).map(({ id }) => id)
      return null
    }
    if (open.length === 0) {
      return `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`
    }
    if (open.includes(message.tool_call_id)) return null
    return `Invalid parameter: 'tool_call_id' of '${message.tool_call_id}' not found in 'tool_calls' of previous message.`
  })
}

/** Results must follow their call directly. One after another message does not count. */
const orphanCalls = (messages: readonly ChatMessage[]): string | null =>
  complaintIn(messages, (message, index) => {
    const after = messages.slice(index + 1)
    const end = after.findIndex(({ role }) => role !== 'tool')
    const answered = (end === -1 ? after : after.slice(0, end)).flatMap((one) =>
      one.role === 'tool' ? [one.tool_call_id] : [],
    )
    const orphans = callsOf(message).filter(({ id }) => !answered.includes(id))
    if (orphans.length === 0) return null
    return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${orphans.map(({ id }) => id).join(', ')}`
  })

/** Returns complaints of OpenAI-compatible services, chosen by the model name. */
const kindredComplaint = ({ model, messages }: ChatRequest): string | null => {
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

/** Rejects a call without its reasoning, which DeepSeek requires unless thinking is disabled. */
function missingReasoning(message: ChatMessage, index: number): string | null {
  if (message.role !== 'assistant' || (message.tool_calls ?? []).length === 0) return null
  if (message.reasoning_content !== undefined) return null
  return `Missing \`reasoning_content\` field in the assistant message at message index ${index}.`
}
