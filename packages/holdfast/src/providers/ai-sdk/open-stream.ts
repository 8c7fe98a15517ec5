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
import { dialectOf } from './dialect.ts'
import { type FileBytes, type Prompt, toPrompt } from './prompt.ts'
import type { ToolNames } from './tool-names.ts'
import { isUnthought } from './unthought.ts'

/** A model object of any `@ai-sdk/*` package, of this interface or the one before it. */
export type AiSdkModel = LanguageModelV3 | LanguageModelV4
export type StreamPart = LanguageModelV3StreamPart | LanguageModelV4StreamPart

/** Begins one model call. There is no retry below this line: retrying is the session's business. */
export async function openStream(
  model: AiSdkModel,
  request: ModelRequest,
  { signal, names }: { readonly signal: AbortSignal; readonly names: ToolNames },
): Promise<ReadableStream<StreamPart>> {
  const dialect = dialectOf(model)
  const spoken = { dialect, modelId: model.modelId, names }
  const tools = request.tools.map((tool) => toTool(tool, names))
  const levelFor = (prompt: Prompt<unknown>): ThinkingLevel =>
    dialect.thinksFromTheStart && isUnthought(prompt) ? 'off' : request.thinkingLevel
  const common = { abortSignal: signal, ...(tools.length > 0 && { tools }) }

  if (model.specificationVersion === 'v3') {
    const prompt = toPrompt(request, {
      ...spoken,
      filePart: ({ bytes, ...file }) => ({ ...named(file), data: bytes }),
    })
    const { stream } = await model.doStream({
      ...common,
      prompt,
      providerOptions: withOptions(
        model.provider.startsWith('anthropic') ? { anthropic: { thinking: budgets[levelFor(prompt)] } } : {},
        request.providerOptions,
        dialect.fixedOptions,
      ),
    })
    return stream
  }

  const prompt = toPrompt(request, {
    ...spoken,
    filePart: ({ bytes, ...file }) => ({ ...named(file), data: { type: 'data' as const, data: bytes } }),
  })
  const { stream } = await model.doStream({
    ...common,
    prompt,
    reasoning: efforts[levelFor(prompt)],
    providerOptions: withOptions(dialect.options(request.thinkingLevel), request.providerOptions, dialect.fixedOptions),
  })
  return stream
}

/** What the program that started the session asked of the service beats what we would ask, but not what we must. */
function withOptions(
  ours: SharedV4ProviderOptions,
  theirs: ProviderOptions = {},
  fixed: SharedV4ProviderOptions,
): SharedV4ProviderOptions {
  const services = new Set([...Object.keys(ours), ...Object.keys(theirs), ...Object.keys(fixed)])
  return Object.fromEntries(
    [...services].map((service) => [
      service,
      { ...ours[service], ...(theirs[service] as JSONObject | undefined), ...fixed[service] }, // z.json() is JSON by its own word
    ]),
  )
}

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

const toTool = (
  { name, description, input }: ModelRequest['tools'][number],
  names: ToolNames,
): LanguageModelV4FunctionTool => ({
  type: 'function',
  name: names.toWire(name),
  description,
  inputSchema: input as LanguageModelV4FunctionTool['inputSchema'], // a tool's schema is JSON Schema by our port's word
})

const named = ({ mediaType, name }: Omit<FileBytes, 'bytes'>) => ({
  type: 'file' as const,
  mediaType,
  ...(name !== undefined && { filename: name }),
})
