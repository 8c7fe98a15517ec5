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

/** A piece of an answer that each service gives in its own form. What is opaque in it, the desk makes up. */
export type Said =
  | { readonly type: 'think' | 'say'; readonly text: string }
  /** Thinking without words. */
  | { readonly type: 'hide' }
  | { readonly type: 'call'; readonly tool: string; readonly args: { readonly [key: string]: unknown } }
  /** A call whose arguments are written as they stand here, valid or not. */
  | { readonly type: 'scrawl'; readonly tool: string; readonly json: string }

/** One of the four services: its rules, its memory of what it said, and how it says it. */
export type ServiceApi = Pick<StrictApi<unknown>, 'complaintAbout' | 'errorBody' | 'streamError'> & {
  readonly service: HistoryProvider
  give(said: readonly Said[], request: ApiRequest): readonly SseEvent[]
}

type Opaque = (index: number) => string

function deskOf<Block>(
  service: HistoryProvider,
  strict: StrictApi<StrictAnswer<Block, unknown>>,
  blocksOf: (said: readonly Said[], opaque: Opaque) => readonly Block[],
): ServiceApi {
  let given = 0
  return {
    service,
    complaintAbout: strict.complaintAbout,
    errorBody: strict.errorBody,
    streamError: strict.streamError,
    give(said, request) {
      given++
      const content = blocksOf(said, (index) => `+/${given}-${index}=`)
      return strict.give({ type: 'message', content }, request)
    },
  }
}

const each =
  <Block>(blockOf: (said: Said, opaque: string) => readonly Block[]) =>
  (said: readonly Said[], opaque: Opaque): readonly Block[] =>
    said.flatMap((one, index) => blockOf(one, opaque(index)))

export const isCall = ({ type }: Said): boolean => type === 'call' || type === 'scrawl'

const anthropicBlock = (said: Said, opaque: string): readonly AnswerBlock[] => {
  switch (said.type) {
    case 'think':
      // What it signs it has written, and half a character cannot be.
      return [{ type: 'thinking', thinking: said.text.toWellFormed(), signature: opaque }]
    case 'hide':
      return [{ type: 'redacted_thinking', data: opaque }]
    case 'say':
      return [{ type: 'text', text: said.text }]
    case 'call':
      // No two alike: the desk tells answers apart by what they call.
      return [{ type: 'tool_use', name: said.tool, input: { ...said.args, nonce: opaque } }]
    case 'scrawl':
      return [{ type: 'raw_tool_use', name: said.tool, json: said.json }]
  }
}

const responsesBlock = (said: Said, opaque: string): readonly ResponsesBlock[] => {
  switch (said.type) {
    case 'think':
      return [{ type: 'reasoning', summary: said.text.split('|'), encrypted: opaque }]
    case 'hide':
      return [{ type: 'reasoning', summary: [], encrypted: opaque }]
    case 'say':
      return [{ type: 'message', text: said.text }]
    case 'call':
      return [{ type: 'function_call', name: said.tool, input: said.args }]
    case 'scrawl':
      return [{ type: 'raw_function_call', name: said.tool, json: said.json }]
  }
}

const chatBlock = (said: Said): readonly ChatBlock[] => {
  switch (said.type) {
    case 'say':
      return [{ type: 'text', text: said.text }]
    case 'call':
      return [{ type: 'tool_call', name: said.tool, input: said.args }]
    case 'scrawl':
      return [{ type: 'raw_tool_call', name: said.tool, json: said.json }]
    default:
      return []
  }
}

/**
 * It signs what it thinks, and one part of what comes of it: the first call, or else its last words. Its parts have no
 * bounds but their kind; arguments it cannot scrawl, nor names it would not take.
 */
function geminiBlocks(answer: readonly Said[], opaque: Opaque): readonly GeminiBlock[] {
  const said = merged(answer)
  const call = said.findIndex(isCall)
  const last = call === -1 ? said.findLastIndex(({ type }) => type === 'say') : call
  return said.flatMap((one, index): readonly GeminiBlock[] => {
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
  const said: Said[] = []
  for (const one of answer) {
    const before = said.at(-1)
    if ((one.type === 'say' || one.type === 'think') && before?.type === one.type)
      said[said.length - 1] = { type: one.type, text: before.text + one.text }
    else said.push(one)
  }
  return said
}

const geminiName = (tool: string): string => {
  if (tool === '3d') return '_3d' // as it was offered
  return /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(tool) ? tool : 'default_api:look'
}

export const createServiceApis = (): Readonly<Record<HistoryProvider, ServiceApi>> => ({
  anthropic: deskOf('anthropic', createAnthropicApi(), each(anthropicBlock)),
  'openai-chat': deskOf('openai-chat', createOpenAiChatApi(), each(chatBlock)),
  'openai-responses': deskOf('openai-responses', createOpenAiResponsesApi(), each(responsesBlock)),
  gemini: deskOf('gemini', createGeminiApi(), geminiBlocks),
})
export type ServiceApis = ReturnType<typeof createServiceApis>

/** Models of each service, of those that think and those that do not, and of several ages. */
export const modelsOf = {
  anthropic: ['anthropic/claude-sonnet-4-5', 'anthropic/claude-sonnet-5-5'],
  'openai-chat': ['openai-chat/gpt-5', 'openai-chat/gpt-4.1'],
  'openai-responses': ['openai/gpt-5', 'openai/gpt-4.1', 'openai/gpt-5.2'],
  gemini: ['google/gemini-3-pro-preview', 'google/gemini-2.5-flash', 'google/gemini-3-flash-preview'],
} as const satisfies Readonly<Record<HistoryProvider, readonly ModelName[]>>

/** What a model can say of an answer: those that came before reasoning have none, some services keep it to themselves. */
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

/** The real adapter and the real library of a model's service, with a line in place of the network. */
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
