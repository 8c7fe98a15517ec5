import {
  type BlobHash,
  type Content,
  continueWord,
  type ModelName,
  outcomeOutput,
  type ProviderOptions,
  providerOf,
  type ThinkingLevel,
} from '@holdfast/protocol'
import type {
  AssistantPart,
  ModelRequest,
  RequestMessage,
  ToolResultPart,
  ToolSchema,
  UserPart,
} from '../ports/provider.ts'
import type { Window, WindowMessage } from './window.ts'

export type RequestParts = {
  readonly model: ModelName
  readonly thinkingLevel: ThinkingLevel
  readonly system: string
  readonly tools: readonly ToolSchema[]
  readonly window: Window
  /** The bytes of the window's file parts. */
  readonly files: ReadonlyMap<BlobHash, Uint8Array>
  readonly providerOptions?: ProviderOptions | null | undefined
}

/**
 * Builds what a model is sent, from records and blobs alone: the same log gives the same bytes, after a branch, a
 * restart or a compaction alike. Whatever the session went through, the result is a history every provider accepts.
 */
export function buildRequest(parts: RequestParts): ModelRequest {
  const { model, thinkingLevel, system, tools, window, files, providerOptions } = parts
  const messages: RequestMessage[] = []
  if (window.summary !== null)
    addUser(messages, [{ type: 'text', text: `Summary of the conversation so far:\n\n${window.summary}` }])
  for (const round of roundsOf(window.messages)) addRound(messages, round, providerOf(model), files)
  if (messages.at(-1)?.role !== 'user' && messages.at(-1)?.role !== 'tool') addUser(messages, [goOn])
  return { model, thinkingLevel, system, tools, messages, ...(providerOptions && { providerOptions }) }
}

/** What stands between two answers, or after a cut one, where nobody spoke: providers want someone to. */
const goOn: UserPart = { type: 'text', text: continueWord }

type Round = readonly WindowMessage[]

const stepOf = ({ event }: WindowMessage): number | null => (event.type === 'user.said' ? null : event.step)

/** Neighbours that one step made are one round; each user message stands alone. */
function roundsOf(messages: readonly WindowMessage[]): readonly Round[] {
  const rounds: WindowMessage[][] = []
  let step: number | null = null
  for (const message of messages) {
    const last = rounds.at(-1)
    if (last && stepOf(message) !== null && stepOf(message) === step) last.push(message)
    else rounds.push([message])
    step = stepOf(message)
  }
  return rounds
}

function addRound(messages: RequestMessage[], round: Round, provider: string, files: RequestParts['files']): void {
  const [first] = round
  if (first?.event.type === 'user.said') {
    addUser(messages, userParts(first.event.content, files))
    return
  }
  const content = round.flatMap((message) => assistantPart(message, provider))
  if (!content.some(({ type }) => type !== 'thinking')) return // thinking alone answers nobody, and binds nothing
  if (messages.length === 0 || messages.at(-1)?.role === 'assistant') addUser(messages, [goOn])
  messages.push({ role: 'assistant', content })
  const results = round.flatMap(toolResult)
  if (results.length > 0) messages.push({ role: 'tool', content: results })
}

/** People who speak one after the other are heard as one: roles take turns. */
function addUser(messages: RequestMessage[], parts: readonly UserPart[]): void {
  const last = messages.at(-1)
  if (last?.role === 'user') messages[messages.length - 1] = { role: 'user', content: [...last.content, ...parts] }
  else messages.push({ role: 'user', content: parts })
}

function userParts(content: Content, files: RequestParts['files']): readonly UserPart[] {
  const parts = content.flatMap((part): UserPart[] => {
    if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text.toWellFormed() }]
    const bytes = files.get(part.blob)
    const name = part.name === undefined ? {} : { name: part.name }
    if (!bytes) return [{ type: 'text', text: `[the file ${part.name ?? part.blob} is gone]` }]
    return [{ type: 'file', mediaType: part.mediaType, ...name, bytes }]
  })
  return parts.length > 0 ? parts : [goOn]
}

/** Thinking is sent only to the provider that wrote it, and only whole: it is opaque, and byte for byte its own. */
function assistantPart({ seq, event }: WindowMessage, provider: string): readonly AssistantPart[] {
  if (event.type === 'user.said') return []
  const meta = event.meta !== undefined && event.provider === provider ? { meta: event.meta } : {}
  switch (event.type) {
    case 'thinking.said':
      return event.provider === provider && !event.interrupted ? [{ type: 'thinking', text: event.text, ...meta }] : []
    case 'text.said':
      return event.text.trim() === '' ? [] : [{ type: 'text', text: event.text.toWellFormed(), ...meta }]
    case 'call.requested':
      return [{ type: 'call', id: `c${seq}`, tool: sendableName(event.tool), args: wellFormed(event.args), ...meta }]
  }
}

/** A model may ask for a tool by a name that no provider takes back; the call got its error, and must not spoil what follows. */
const sendableName = (tool: string): string => tool.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || '_'

/** Arguments are JSON, and JSON may spell half a character. */
function wellFormed<Value>(value: Value): Value
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map((one) => wellFormed(one))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name.toWellFormed(), wellFormed(inner)]))
}

/** Every call has exactly one result, in call order. One that never closed is answered as interrupted. */
function toolResult({ seq, event, outcome }: WindowMessage): readonly ToolResultPart[] {
  if (event.type !== 'call.requested') return []
  const settled = outcome ?? { type: 'interrupted', code: 'crashed' }
  const { text } = outcomeOutput(settled)
  return [{ id: `c${seq}`, tool: sendableName(event.tool), text: text.toWellFormed(), isError: settled.type !== 'ok' }]
}
