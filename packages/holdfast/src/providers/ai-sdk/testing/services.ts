import type { ModelRequest, Provider } from '@holdfast/core/ports'
import type { ModelName } from '@holdfast/protocol'
import {
  type AnswerBlock,
  aRequest,
  type ChatBlock,
  type Detour,
  type GeminiBlock,
  type HistoryProvider,
  type ResponsesBlock,
  type StrictServer,
  startAnthropicServer,
  startGeminiServer,
  startOpenAiChatServer,
  startOpenAiResponsesServer,
  userSays,
} from '@holdfast/testkit'
import { createModels } from '../../models.ts'

/** A piece of an answer that every service can give in its own form. `opaque` is what it wants back with it. */
export type Said =
  | { readonly type: 'think'; readonly text: string; readonly opaque: string }
  | { readonly type: 'say'; readonly text: string; readonly opaque?: string }
  | {
      readonly type: 'call'
      readonly tool: string
      readonly args: { readonly [key: string]: unknown }
      readonly opaque?: string
    }

export type Scripted = {
  readonly said: readonly Said[]
  readonly stopReason?: string
  readonly after?: { readonly events: number; readonly detour: Detour }
}

type Running = Pick<StrictServer<unknown>, 'url' | 'requests' | 'received' | 'close'> & {
  /** Adds an answer to the end of the script. */
  says(scripted: Scripted): void
  drops(): void
}

/** A service as the tests that hold for all of them see it. */
export type ServiceUnderTest = {
  readonly name: HistoryProvider
  readonly model: ModelName
  /** Others of the same service, older or without thinking. */
  readonly others: readonly ModelName[]
  /** After how many events of an answer of one text its first words are out. */
  readonly firstWords: number
  start(): Promise<Running>
  provider(url: string, model?: ModelName): Provider
}

type AnyAnswer<Block> =
  | {
      readonly type: 'message'
      readonly content: readonly Block[]
      readonly stopReason?: string
      readonly after?: NonNullable<Scripted['after']>
    }
  | { readonly type: 'drop' }

async function running<Block>(
  start: () => Promise<StrictServer<AnyAnswer<Block>>>,
  blocksOf: (said: readonly Said[]) => readonly Block[],
): Promise<Running> {
  const server = await start()
  return {
    url: server.url,
    requests: server.requests,
    received: server.received,
    close: server.close,
    says: ({ said, stopReason, after }) =>
      server.answer({
        type: 'message',
        content: blocksOf(said),
        ...(stopReason !== undefined && { stopReason }),
        ...(after && { after }),
      }),
    drops: () => server.answer({ type: 'drop' }),
  }
}

function providerAt(model: ModelName, environment: { readonly [name: string]: string }): Provider {
  const readiness = createModels({ environment }).find(model)
  if (readiness.type !== 'ready') throw new Error(readiness.message)
  return readiness.provider
}

const anthropic: ServiceUnderTest = {
  name: 'anthropic',
  model: 'anthropic/claude-sonnet-4-5',
  others: ['anthropic/claude-haiku-4-5'],
  firstWords: 4,
  start: () =>
    running<AnswerBlock>(startAnthropicServer, (said) =>
      said.map((one) => {
        if (one.type === 'think') return { type: 'thinking', thinking: one.text, signature: one.opaque }
        if (one.type === 'say') return { type: 'text', text: one.text }
        return { type: 'tool_use', name: one.tool, input: one.args }
      }),
    ),
  provider: (url, model = anthropic.model) => providerAt(model, { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: url }),
}

const openAiChat: ServiceUnderTest = {
  name: 'openai-chat',
  model: 'openai-chat/gpt-4.1',
  others: ['openai-chat/gpt-5'],
  firstWords: 2,
  start: () =>
    running<ChatBlock>(startOpenAiChatServer, (said) =>
      said.flatMap((one): ChatBlock[] => {
        if (one.type === 'think') return [] // this API keeps its reasoning to itself
        if (one.type === 'say') return [{ type: 'text', text: one.text }]
        return [{ type: 'tool_call', name: one.tool, input: one.args }]
      }),
    ),
  provider: (url, model = openAiChat.model) => providerAt(model, { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: url }),
}

const openAiResponses: ServiceUnderTest = {
  name: 'openai-responses',
  model: 'openai/gpt-5',
  others: ['openai/gpt-4.1', 'openai/gpt-5.2'],
  firstWords: 3,
  start: () =>
    running<ResponsesBlock>(startOpenAiResponsesServer, (said) =>
      said.map((one) => {
        if (one.type === 'think') return { type: 'reasoning', summary: one.text.split('|'), encrypted: one.opaque }
        if (one.type === 'say') return { type: 'message', text: one.text }
        return { type: 'function_call', name: one.tool, input: one.args }
      }),
    ),
  provider: (url, model = openAiResponses.model) => providerAt(model, { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: url }),
}

const gemini: ServiceUnderTest = {
  name: 'gemini',
  model: 'google/gemini-3-pro-preview',
  others: ['google/gemini-2.5-flash', 'google/gemini-3-flash-preview'],
  firstWords: 1,
  start: () =>
    running<GeminiBlock>(startGeminiServer, (said) =>
      said.map((one) => {
        if (one.type === 'think') return { type: 'thought', text: one.text, signature: one.opaque }
        const signed = one.opaque === undefined ? {} : { signature: one.opaque }
        if (one.type === 'say') return { type: 'text', text: one.text, ...signed }
        return { type: 'call', name: one.tool, args: one.args, ...signed }
      }),
    ),
  provider: (url, model = gemini.model) => providerAt(model, { GEMINI_API_KEY: 'key', GEMINI_BASE_URL: url }),
}

export const services: readonly ServiceUnderTest[] = [anthropic, openAiChat, openAiResponses, gemini]

export const askOf = ({ model }: ServiceUnderTest, changes: Partial<ModelRequest> = {}): ModelRequest =>
  aRequest({ model, messages: [userSays('go')], ...changes })
