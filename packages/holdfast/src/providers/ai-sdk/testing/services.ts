import type { ModelRequest, Provider } from '@holdfast/core/ports'
import type { ModelName } from '@holdfast/protocol'
import {
  type AnyBlock,
  type AnyStrictServer,
  aRequest,
  type HistoryProvider,
  type StreamDisruption,
  strictServices,
  userSays,
} from '@holdfast/testkit'
import { createModels } from '../../models.ts'

export type Scripted = {
  readonly blocks: readonly AnyBlock[]
  readonly stopReason?: string
  readonly after?: { readonly events: number; readonly detour: StreamDisruption }
}

type Running = Omit<AnyStrictServer, 'answer'> & {
  /** Adds an answer to the end of the script. */
  says(scripted: Scripted): void
  drops(): void
}

/** A service, for tests that run with all of them. */
export type ServiceUnderTest = {
  readonly name: HistoryProvider
  readonly model: ModelName
  /** Other models of the service, older or without thinking. */
  readonly others: readonly ModelName[]
  /** The number of events before the first text of an answer. */
  readonly firstWords: number
  start(): Promise<Running>
  provider(url: string, model?: ModelName): Provider
}

/** The strict server of a service, with answers in a common format. */
const strict = (name: HistoryProvider): Pick<ServiceUnderTest, 'name' | 'firstWords' | 'start'> => ({
  name,
  firstWords: strictServices[name].firstWords,
  async start() {
    const { answer, ...server } = await strictServices[name].start()
    return {
      ...server,
      says: ({ blocks, ...rest }) => answer({ type: 'message', content: blocks, ...rest }),
      drops: () => answer({ type: 'drop' }),
    }
  },
})

function providerAt(model: ModelName, environment: { readonly [name: string]: string }): Provider {
  const readiness = createModels({ environment }).find(model)
  if (readiness.type !== 'ready') throw new Error(readiness.message)
  return readiness.provider
}

const anthropic: ServiceUnderTest = {
  ...strict('anthropic'),
  model: 'anthropic/claude-sonnet-4-5',
  others: ['anthropic/claude-haiku-4-5'],
  provider: (url, model = anthropic.model) => providerAt(model, { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: url }),
}

const openAiChat: ServiceUnderTest = {
  ...strict('openai-chat'),
  model: 'openai-chat/gpt-4.1',
  others: [
    'openai-chat/gpt-5',
    'vllm/llama',
    'mistral/mistral-large',
    'deepseek/deepseek-v4',
    'groq/any',
    'openrouter/any',
  ],
  provider: (url, model = openAiChat.model) =>
    providerAt(
      model,
      Object.fromEntries(
        ['OPENAI', 'VLLM', 'MISTRAL', 'DEEPSEEK', 'GROQ', 'OPENROUTER'].flatMap((name) => [
          [`${name}_API_KEY`, 'key'],
          [`${name}_BASE_URL`, url],
        ]),
      ),
    ),
}

const openAiResponses: ServiceUnderTest = {
  ...strict('openai-responses'),
  model: 'openai/gpt-5',
  others: ['openai/gpt-4.1', 'openai/gpt-5.2'],
  provider: (url, model = openAiResponses.model) => providerAt(model, { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: url }),
}

const gemini: ServiceUnderTest = {
  ...strict('gemini'),
  model: 'google/gemini-3-pro-preview',
  others: ['google/gemini-2.5-flash', 'google/gemini-3-flash-preview'],
  provider: (url, model = gemini.model) => providerAt(model, { GEMINI_API_KEY: 'key', GEMINI_BASE_URL: url }),
}

export const services: readonly ServiceUnderTest[] = [anthropic, openAiChat, openAiResponses, gemini]

export const requestFor = ({ model }: ServiceUnderTest, changes: Partial<ModelRequest> = {}): ModelRequest =>
  aRequest({ model, messages: [userSays('go')], ...changes })
