import { type CommandInput, fault, HoldfastError, Message, orThrow, parseOptions } from '@holdfast/protocol'

/** A message from elsewhere. */
export type MessageSeed = Extract<CommandInput, { readonly type: 'seedMessages' }>['messages'][number]

/** A message to add: one from elsewhere, or one that `messages()` of any session returned. */
export type AddedMessage = MessageSeed | Message

type Answer = Extract<MessageSeed, { readonly role: 'assistant' }>
type Result = Extract<MessageSeed, { readonly role: 'tool' }>
type Part = Extract<Message, { readonly kind: 'thinking' | 'assistant' | 'tool_call' }>
type OpenAnswer = { readonly step: number; readonly seed: Answer; readonly results: readonly Result[] }

/**
 * Returns messages in the form that a session adds. The parts of one answer become one message again, followed by the
 * results of its calls. Usage is left out: it was counted where it arose. A notice becomes a system message.
 */
export function toSeeds(messages: readonly AddedMessage[]): MessageSeed[] {
  requireMessages(messages)
  const seeds: MessageSeed[] = []
  let open: OpenAnswer | null = null
  for (const message of messages) {
    const part = isPart(message) ? message : null
    const grown: OpenAnswer | null = part && open ? withPart(open, part) : null
    if (open && !grown) seeds.push(open.seed, ...open.results)
    open = grown ?? (part && withPart({ step: part.step, seed: { role: 'assistant', content: '' }, results: [] }, part))
    if (!isPart(message)) seeds.push(...toSeed(message))
  }
  return open ? [...seeds, open.seed, ...open.results] : seeds
}

/** Refuses what is not a list of messages, because a program without types may pass anything. */
function requireMessages(given: unknown): void {
  if (!Array.isArray(given)) throw new HoldfastError(fault('bad_request', 'Give the messages as a list.'))
  for (const [index, message] of given.entries()) {
    if (typeof message !== 'object' || message === null || Array.isArray(message))
      throw new HoldfastError(fault('bad_request', `messages.${index}: give a message.`))
    if ('kind' in message) orThrow(parseOptions(Message, message, `add messages.${index}`))
  }
}

const isPart = (message: AddedMessage): message is Part =>
  'kind' in message && (message.kind === 'thinking' || message.kind === 'assistant' || message.kind === 'tool_call')

/** Adds a part to its answer; null if it does not fit: thinking comes first, then text, then calls. */
function withPart({ step, seed, results }: OpenAnswer, message: Part): OpenAnswer | null {
  if (message.step !== step) return null
  if (message.kind === 'tool_call') {
    const { id, tool, args } = message.call
    const call = { id: `c${id}`, tool, args: args as Record<string, never> } // JSON: it comes from a record
    const toolCalls = [...(seed.toolCalls ?? []), call]
    return { step, seed: { ...seed, toolCalls }, results: [...results, ...resultOf(message)] }
  }
  const isBegun = seed.content !== '' || seed.toolCalls !== undefined
  if (isBegun || (message.kind === 'thinking' && seed.thinking !== undefined)) return null
  const { text } = message
  return { step, seed: { ...seed, ...(message.kind === 'thinking' ? { thinking: text } : { content: text }) }, results }
}

/** Returns the result of a call; none while it has none: then the call is added as interrupted. */
function resultOf({ call: { id, status, result } }: Extract<Part, { readonly kind: 'tool_call' }>): readonly Result[] {
  if (result === null) return []
  const isError = status !== 'complete' && { isError: true }
  return [{ role: 'tool', toolCallId: `c${id}`, content: result.text, ...isError }]
}

function toSeed(message: Exclude<AddedMessage, Part>): readonly MessageSeed[] {
  if (!('kind' in message)) return [message]
  if (message.kind === 'usage') return []
  if (message.kind === 'user') {
    const { text, parts, isExpanded } = message
    const hasFile = parts.some(({ type }) => type === 'file')
    return [{ role: 'user', content: hasFile || isExpanded ? parts : text }]
  }
  return [{ role: 'system', content: message.text, ...(message.level === 'error' && { level: 'error' }) }]
}
