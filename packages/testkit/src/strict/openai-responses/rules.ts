import { complaintIn, firstComplaint } from '../base/complaints.ts'
import { argumentsComplaint, emptyArray, emptyText, nameComplaint, tooLong } from '../base/openai.ts'
import { isMessage, isReasoning, type ResponsesRequest, type WireCall, type WireItem } from './wire.ts'

/** An item of an answer and the reasoning it belongs to. */
export type GivenItem = {
  readonly id: string
  /** The reasoning directly before it. Without it the item may not be sent back with its id. */
  readonly reasoning: string | null
  /** For reasoning: content that may only be sent back unchanged. */
  readonly encrypted: string | null
}

const callIdCharsMax = 64
/** Returns whether a model reasons, by the name of its family. */
const thinks = (model: string): boolean => !/^(chat)?gpt-[34]/.test(model)

/** Returns the first error of OpenAI's Responses API for a history, with its own message, or null. */
export const complaintAbout = (request: ResponsesRequest, given: readonly GivenItem[]): string | null => {
  const { input, tools = [] } = request
  return firstComplaint(
    input.length === 0 ? emptyArray('input') : null,
    () => complaintIn(tools, ({ name }, index) => nameComplaint(`tools[${index}].name`, name)),
    () => stateComplaint(request),
    () => modelComplaint(request),
    () => complaintIn(input, emptiness),
    () => complaintIn(input, idPrefix),
    () => complaintIn(input, (item, index) => (item.type === 'function_call' ? callAt(item, index) : null)),
    () => repeatedItems(input),
    () => pairs(input),
    () => complaintIn(input, (item, index) => reasoningAt(item, input[index + 1], given)),
    () => complaintIn(input, (item, index) => withoutReasoning(item, input.slice(0, index), given)),
  )
}

/** Rejects references to stored state, which a request with `store: false` cannot use. */
function stateComplaint({ input, previous_response_id: previous }: ResponsesRequest): string | null {
  if (previous !== undefined) return `Previous response with id '${previous}' not found.`
  return complaintIn(input, (item) =>
    item.type === 'item_reference' || (isReasoning(item) && item.id !== undefined && !item.encrypted_content)
      ? `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
      : null,
  )
}

function modelComplaint({ model, input, include = [] }: ResponsesRequest): string | null {
  if (thinks(model)) return null
  if (include.includes('reasoning.encrypted_content')) return 'Encrypted content is not supported with this model.'
  if (!input.some(isReasoning)) return null
  return 'Reasoning input items can only be provided to a reasoning or computer use model. Remove reasoning items from your input and try again.'
}

function emptiness(item: WireItem, index: number): string | null {
  if (!isMessage(item)) return null
  const at = `input[${index}].content`
  if (item.content === '') return emptyText(at)
  if (item.content.length === 0) return emptyArray(at)
  if (typeof item.content === 'string') return null
  return complaintIn(item.content, (part, n) =>
    'text' in part && part.text === '' ? emptyText(`${at}[${n}].text`) : null,
  )
}

const prefixes: Readonly<Record<string, string>> = { function_call: 'fc', reasoning: 'rs', message: 'msg' }

function idPrefix(item: WireItem, index: number): string | null {
  const prefix = prefixes[item.type ?? 'message']
  if (prefix === undefined || item.id === undefined || item.id.startsWith(prefix)) return null
  return `Invalid 'input[${index}].id': '${item.id}'. Expected an ID that begins with '${prefix}'.`
}

function callAt(call: WireCall, index: number): string | null {
  const at = `input[${index}]`
  return firstComplaint(
    call.call_id === '' ? emptyText(`${at}.call_id`) : tooLong(`${at}.call_id`, call.call_id, callIdCharsMax),
    nameComplaint(`${at}.name`, call.name),
    argumentsComplaint(`${at}.arguments`, call.arguments),
  )
}

function repeatedItems(input: readonly WireItem[]): string | null {
  const seen = new Set<string>()
  const repeat = (kind: string, id: string | undefined) => {
    if (id === undefined) return null
    const key = `${kind} ${id}`
    if (seen.has(key))
      return `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`
    seen.add(key)
    return null
  }
  return complaintIn(input, (item) =>
    firstComplaint(repeat('item', item.id), () => ('call_id' in item ? repeat(item.type, item.call_id) : null)),
  )
}

/** Checks that each call has one output, somewhere after it. */
const pairs = (input: readonly WireItem[]): string | null =>
  complaintIn(input, (item, index) => {
    const has = (type: string, among: readonly WireItem[], id: string) =>
      among.some((other) => other.type === type && 'call_id' in other && other.call_id === id)
    if (item.type === 'function_call' && !has('function_call_output', input.slice(index + 1), item.call_id)) {
      return `No tool output found for function call ${item.call_id}.`
    }
    if (item.type === 'function_call_output' && !has('function_call', input.slice(0, index), item.call_id)) {
      return `No tool call found for function call output with call_id ${item.call_id}.`
    }
    return null
  })

/** Checks that reasoning is unchanged and directly followed by its item. */
function reasoningAt(item: WireItem, next: WireItem | undefined, given: readonly GivenItem[]): string | null {
  if (!isReasoning(item)) return null
  const isFollowed = next !== undefined && (isReasoning(next) || next.type === 'function_call' || isAnswerText(next))
  if (!isFollowed) return `Item '${item.id}' of type 'reasoning' was provided without its required following item.`
  if (given.some(({ id, encrypted }) => id === item.id && encrypted === item.encrypted_content)) return null
  return `The encrypted content for item ${item.id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`
}

const isAnswerText = (item: WireItem): boolean => isMessage(item) && item.role === 'assistant'

function withoutReasoning(item: WireItem, before: readonly WireItem[], given: readonly GivenItem[]): string | null {
  const needed = given.find(({ id }) => id === item.id)?.reasoning ?? null
  if (needed === null || before.some(({ id }) => id === needed)) return null
  return `Item '${item.id}' of type '${item.type ?? 'message'}' was provided without its required 'reasoning' item: '${needed}'.`
}
