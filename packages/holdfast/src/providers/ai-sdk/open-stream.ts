import type {
  JSONObject,
  LanguageModelV3,
  LanguageModelV3StreamPart,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4StreamPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { ModelRequest } from '@holdfast/core/ports'
import type { ProviderOptions, ThinkingLevel } from '@holdfast/protocol'
import { type FileBytes, toPrompt } from './prompt.ts'

/** A model object of any `@ai-sdk/*` package, of this interface or the one before it. */
export type AiSdkModel = LanguageModelV3 | LanguageModelV4
export type StreamPart = LanguageModelV3StreamPart | LanguageModelV4StreamPart

/** Begins one model call. There is no retry below this line: retrying is the session's business. */
export async function openStream(
  model: AiSdkModel,
  request: ModelRequest,
  { signal }: { readonly signal: AbortSignal },
): Promise<ReadableStream<StreamPart>> {
  const isAnthropic = model.provider.startsWith('anthropic')
  const tools = request.tools.map(toTool)
  const common = { abortSignal: signal, ...(tools.length > 0 && { tools }) }

  if (model.specificationVersion === 'v3') {
    const prompt = toPrompt(request, {
      isAnthropic,
      filePart: ({ bytes, ...file }) => ({ ...named(file), data: bytes }),
    })
    const { stream } = await model.doStream({
      ...common,
      prompt,
      providerOptions: withOptions(
        isAnthropic ? { anthropic: { thinking: budgets[request.thinkingLevel] } } : {},
        request.providerOptions,
      ),
    })
    return stream
  }

  const prompt = toPrompt(request, {
    isAnthropic,
    filePart: ({ bytes, ...file }) => ({ ...named(file), data: { type: 'data' as const, data: bytes } }),
  })
  const { stream } = await model.doStream({
    ...common,
    prompt,
    reasoning: efforts[request.thinkingLevel],
    // A model that thinks in silence still pings: that is how silence and a dead line are told apart.
    providerOptions: withOptions(isAnthropic ? { anthropic: { includePings: true } } : {}, request.providerOptions),
  })
  return stream
}

/** What the program that started the session asked of the service beats what we would ask. */
const withOptions = (ours: SharedV4ProviderOptions, theirs: ProviderOptions = {}): SharedV4ProviderOptions => ({
  ...ours,
  ...Object.fromEntries(
    Object.entries(theirs).map(([service, asked]) => [service, { ...ours[service], ...(asked as JSONObject) }]), // z.json() is JSON by its own word
  ),
})

const efforts = {
  off: 'none',
  low: 'low',
  medium: 'medium',
  high: 'high',
} as const satisfies Record<ThinkingLevel, LanguageModelV4CallOptions['reasoning']>

/** The interface before this one has no word for thinking, so Anthropic's own is used. */
const budgets = {
  off: { type: 'disabled' },
  low: { type: 'enabled', budgetTokens: 2_048 },
  medium: { type: 'enabled', budgetTokens: 8_192 },
  high: { type: 'enabled', budgetTokens: 24_576 },
} as const satisfies Record<ThinkingLevel, object>

const toTool = ({ name, description, input }: ModelRequest['tools'][number]): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema: input as LanguageModelV4FunctionTool['inputSchema'], // a tool's schema is JSON Schema by our port's word
})

const named = ({ mediaType, name }: Omit<FileBytes, 'bytes'>) => ({
  type: 'file' as const,
  mediaType,
  ...(name !== undefined && { filename: name }),
})
