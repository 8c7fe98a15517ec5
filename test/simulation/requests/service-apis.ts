import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import type { Clock, Provider } from '@holdfast/core/ports'
import { invariant, type ModelName, modelIdOf, providerOf } from '@holdfast/protocol'
import {
  type AnswerBlock,
  type ApiRequest,
  type ChatBlock,
  createAnthropicApi,
  createGeminiApi,
  createOpenAiChatApi,
  createOpenAiResponsesApi,
  type GeminiBlock,
  type HistoryProvider,
  type ResponsesBlock,
  type SseEvent,
  type StrictAnswer,
  type StrictApi,
} from '@holdfast/testkit'
import { createAiSdkProvider } from '../../../packages/holdfast/src/providers/ai-sdk/provider.ts'

/** A part of an answer, for any service. The service adds its opaque data. */
export type Said =
  | { readonly type: 'think' | 'say'; readonly text: string }
  /** Thinking without text. */
  | { readonly type: 'hide' }
  | { readonly type: 'call'; readonly tool: string; readonly args: { readonly [key: string]: unknown } }
  /** A call whose arguments are sent unchanged, valid or not. */
  | { readonly type: 'scrawl'; readonly tool: string; readonly json: string }

/** One of the four services: it checks requests, remembers its answers and streams them. */
export type ServiceApi = Pick<StrictApi<unknown>, 'complaintAbout' | 'errorBody' | 'streamError'> & {
  readonly service: HistoryProvider
  give(parts: readonly Said[], request: ApiRequest): readonly SseEvent[]
}

type Opaque = (index: number) => string

function apiOf<Block>(
  service: HistoryProvider,
  strict: StrictApi<StrictAnswer<Block, unknown>>,
  blocksOf: (parts: readonly Said[], opaque: Opaque) => readonly Block[],
): ServiceApi {
  let given = 0
  return {
    service,
    complaintAbout: strict.complaintAbout,
    errorBody: strict.errorBody,
    streamError: strict.streamError,
    give(parts, request) {
      given++
      const content = blocksOf(parts, (index) => `+/${given}-${index}=`)
      return strict.give({ type: 'message', content }, request)
    },
  }
}

const each =
  <Block>(blockOf: (part: Said, opaque: string) => readonly Block[]) =>
  (parts: readonly Said[], opaque: Opaque): readonly Block[] =>
    parts.flatMap((one, index) => blockOf(one, opaque(index)))

export const isCall = ({ type }: Said): boolean => type === 'call' || type === 'scrawl'

const anthropicBlock = (part: Said, opaque: string): readonly AnswerBlock[] => {
  switch (part.type) {
    case 'think':
      // Signed thinking has no unpaired surrogate, because the service wrote it as UTF-8.
      return [{ type: 'thinking', thinking: part.text.toWellFormed(), signature: opaque }]
    case 'hide':
      return [{ type: 'redacted_thinking', data: opaque }]
    case 'say':
      return [{ type: 'text', text: part.text }]
    case 'call':
      // A nonce, because the service distinguishes answers by their calls.
      return [{ type: 'tool_use', name: part.tool, input: { ...part.args, nonce: opaque } }]
    case 'scrawl':
      return [{ type: 'raw_tool_use', name: part.tool, json: part.json }]
  }
}

const responsesBlock = (part: Said, opaque: string): readonly ResponsesBlock[] => {
  switch (part.type) {
    case 'think':
      return [{ type: 'reasoning', summary: part.text.split('|'), encrypted: opaque }]
    case 'hide':
      return [{ type: 'reasoning', summary: [], encrypted: opaque }]
    case 'say':
      return [{ type: 'message', text: part.text }]
    case 'call':
      return [{ type: 'function_call', name: part.tool, input: part.args }]
    case 'scrawl':
      return [{ type: 'raw_function_call', name: part.tool, json: part.json }]
  }
}

const chatBlock = (part: Said): readonly ChatBlock[] => {
  switch (part.type) {
    case 'say':
      return [{ type: 'text', text: part.text }]
    case 'call':
      return [{ type: 'tool_call', name: part.tool, input: part.args }]
    case 'scrawl':
      return [{ type: 'raw_tool_call', name: part.tool, json: part.json }]
    default:
      return []
  }
}

/**
 * Gemini signs its thinking and one other part: the first call, or else the last text. Adjacent parts of one kind are one
 * part. It sends no invalid arguments or names.
 */
function geminiBlocks(answer: readonly Said[], opaque: Opaque): readonly GeminiBlock[] {
  const parts = merged(answer)
  const call = parts.findIndex(isCall)
  const last = call === -1 ? parts.findLastIndex(({ type }) => type === 'say') : call
  return parts.flatMap((one, index): readonly GeminiBlock[] => {
    const signed = index === last ? { signature: opaque(index) } : {}
    switch (one.type) {
      case 'think':
        return [{ type: 'thought', text: one.text, signature: opaque(index) }]
      case 'say':
        return [{ type: 'text', text: one.text, ...signed }]
      case 'call':
        return [{ type: 'call', name: geminiName(one.tool), args: one.args, ...signed }]
      case 'scrawl':
        return [{ type: 'call', name: geminiName(one.tool), args: {}, ...signed }]
      default:
        return []
    }
  })
}

function merged(answer: readonly Said[]): readonly Said[] {
  const parts: Said[] = []
  for (const one of answer) {
    const before = parts.at(-1)
    if ((one.type === 'say' || one.type === 'think') && before?.type === one.type)
      parts[parts.length - 1] = { type: one.type, text: before.text + one.text }
    else parts.push(one)
  }
  return parts
}

const geminiName = (tool: string): string => {
  if (tool === '3d') return '_3d' // the name that was sent
  return /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(tool) ? tool : 'default_api:look'
}

export const createServiceApis = (): Readonly<Record<HistoryProvider, ServiceApi>> => ({
  anthropic: apiOf('anthropic', createAnthropicApi(), each(anthropicBlock)),
  'openai-chat': apiOf('openai-chat', createOpenAiChatApi(), each(chatBlock)),
  'openai-responses': apiOf('openai-responses', createOpenAiResponsesApi(), each(responsesBlock)),
  gemini: apiOf('gemini', createGeminiApi(), geminiBlocks),
})
export type ServiceApis = ReturnType<typeof createServiceApis>

/** Models of each service, with and without thinking, old and new. */
export const modelsOf = {
  anthropic: ['anthropic/claude-sonnet-4-5', 'anthropic/claude-sonnet-5-5'],
  'openai-chat': ['openai-chat/gpt-5', 'openai-chat/gpt-4.1'],
  'openai-responses': ['openai/gpt-5', 'openai/gpt-4.1', 'openai/gpt-5.2'],
  gemini: ['google/gemini-3-pro-preview', 'google/gemini-2.5-flash', 'google/gemini-3-flash-preview'],
} as const satisfies Readonly<Record<HistoryProvider, readonly ModelName[]>>

/** Returns the parts of an answer that a model can send. Old models and some services send no reasoning. */
export const sayable = (model: ModelName, answer: readonly Said[]): readonly Said[] =>
  answer.filter(
    ({ type }) => sayableKinds[serviceOf(model)].includes(type) && !(isThought(type) && /gpt-4/.test(model)),
  )

const isThought = (type: Said['type']): boolean => type === 'think' || type === 'hide'

export const sayableKinds: Readonly<Record<HistoryProvider, readonly Said['type'][]>> = {
  anthropic: ['think', 'hide', 'say', 'call', 'scrawl'],
  'openai-chat': ['say', 'call', 'scrawl'],
  'openai-responses': ['think', 'hide', 'say', 'call', 'scrawl'],
  gemini: ['think', 'say', 'call', 'scrawl'],
}

export const allModels: readonly ModelName[] = Object.values(modelsOf).flat()

const serviceNames: ReadonlyMap<string, HistoryProvider> = new Map([
  ['anthropic', 'anthropic'],
  ['openai', 'openai-responses'],
  ['openai-chat', 'openai-chat'],
  ['google', 'gemini'],
])

export function serviceOf(model: ModelName): HistoryProvider {
  const service = serviceNames.get(providerOf(model))
  invariant(service, `${model} is of a service we know`)
  return service
}

export type Line = (request: ApiRequest, body: string) => Response | Promise<Response>

/** Creates the real adapter with the real library of a service, and a function instead of the network. */
export function providerOn(model: ModelName, line: Line, clock: Clock): Provider {
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const { pathname, search } = new URL(String(url))
    const body = String(init?.body)
    return line({ method: init?.method ?? 'GET', path: pathname + search, body: JSON.parse(body) }, body)
  }
  const at = { apiKey: 'key', fetch }
  const id = modelIdOf(model)
  const asked = () => {
    switch (serviceOf(model)) {
      case 'anthropic':
        return createAnthropic({ ...at, baseURL: 'http://strict/v1' })(id)
      case 'openai-chat':
        return createOpenAI({ ...at, baseURL: 'http://strict/v1' }).chat(id)
      case 'openai-responses':
        return createOpenAI({ ...at, baseURL: 'http://strict/v1' }).responses(id)
      case 'gemini':
        return createGoogle({ ...at, baseURL: 'http://strict/v1beta' })(id)
    }
  }
  return createAiSdkProvider(asked(), { title: providerOf(model), clock })
}
