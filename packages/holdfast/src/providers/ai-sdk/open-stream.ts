import type {
  JSONObject,
  LanguageModelV3,
  LanguageModelV3StreamPart,
  LanguageModelV4,
  LanguageModelV4FunctionTool,
  LanguageModelV4StreamPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { ModelRequest } from '@holdfast/core/ports'
import type { ProviderOptions, ThinkingLevel } from '@holdfast/protocol'
import type { Headers } from '../failure/details.ts'
import type { Dialect, Thinking } from './dialect/dialect.ts'
import { type FileBytes, markForCache, type Prompt, toPrompt } from './prompt.ts'
import { beganWithoutThinking, requestThinking } from './thinking.ts'
import type { ToolNames } from './tool-names.ts'

/** A model of any `@ai-sdk/*` package, of the current or the previous interface. */
export type AiSdkModel = LanguageModelV3 | LanguageModelV4
export type StreamPart = LanguageModelV3StreamPart | LanguageModelV4StreamPart

/** The known facts of a model; null or absent if unknown. */
export type KnownModelFacts = {
  /** The maximum of output tokens. */
  readonly outputTokens?: number | null | undefined
  /** Files that it accepts beside text: media types, or `image/*`. */
  readonly takes?: readonly string[] | null | undefined
  readonly thinkingLevels?: readonly ThinkingLevel[] | null | undefined
}

export type StreamOptions = {
  readonly signal: AbortSignal
  readonly dialect: Dialect
  readonly names: ToolNames
  readonly known: KnownModelFacts
}

export type OpenedStream = { readonly stream: ReadableStream<StreamPart>; readonly headers: Headers | undefined }

/** Starts one model call. Does not retry: that is the session's job. */
export async function openStream(
  model: AiSdkModel,
  request: ModelRequest,
  options: StreamOptions,
): Promise<OpenedStream> {
  const { signal, dialect, names, known } = options
  const promptOptions = { dialect, modelId: model.modelId, names, takes: known.takes ?? null }
  const think = (prompt: Prompt<unknown>) =>
    requestThinking(chooseLevel(prompt, request, dialect), {
      dialect,
      modelId: model.modelId,
      outputTokens: known.outputTokens ?? null,
      hasReasoning: model.specificationVersion !== 'v3',
      known: known.thinkingLevels ?? null,
    })
  const rest = (thinking: Thinking) => ({
    abortSignal: signal,
    ...toTools(request, dialect, names),
    ...limitOutput(dialect, thinking.outputTokensMax ?? known.outputTokens),
    providerOptions: mergeOptions(
      [dialect.options, thinking.options ?? {}, isCached(request) ? dialect.cache.options(model.modelId) : {}],
      request.providerOptions,
      dialect.fixedOptions,
    ),
  })

  if (model.specificationVersion === 'v3') {
    const prompt = toPrompt(request, {
      ...promptOptions,
      filePart: ({ bytes, ...file }) => ({ ...toFilePart(file), data: bytes }),
    })
    const { stream, response } = await model.doStream({
      ...rest(think(prompt)),
      prompt: markCached(prompt, request, dialect),
    })
    return { stream, headers: response?.headers }
  }

  const prompt = toPrompt(request, {
    ...promptOptions,
    filePart: ({ bytes, ...file }) => ({ ...toFilePart(file), data: { type: 'data' as const, data: bytes } }),
  })
  const thinking = think(prompt)
  const { stream, response } = await model.doStream({
    ...rest(thinking),
    prompt: markCached(prompt, request, dialect),
    ...(thinking.reasoning !== undefined && { reasoning: thinking.reasoning }),
  })
  return { stream, headers: response?.headers }
}

const chooseLevel = (prompt: Prompt<unknown>, { thinkingLevel }: ModelRequest, dialect: Dialect): ThinkingLevel =>
  dialect.thinking.mustBeginRound && beganWithoutThinking(prompt) ? 'off' : thinkingLevel

/** Sends the limit of the model only to services that require one. */
const limitOutput = ({ needsOutputLimit }: Dialect, outputTokens: KnownModelFacts['outputTokens']) =>
  needsOutputLimit && typeof outputTokens === 'number' ? { maxOutputTokens: outputTokens } : {}

/** A summary is requested once, so caching it is useless. */
const isCached = ({ purpose }: ModelRequest): boolean => purpose !== 'summary'

const markCached = <File>(prompt: Prompt<File>, request: ModelRequest, { cache }: Dialect): Prompt<File> =>
  cache.mark !== null && isCached(request) ? markForCache(prompt, cache.mark) : prompt

/** Tools come before the system prompt, whose cache mark covers both. Without a system prompt, the last tool is marked. */
function toTools(request: ModelRequest, { cache }: Dialect, names: ToolNames) {
  const { tools, system } = request
  if (tools.length === 0) return {}
  const isMarked = cache.mark !== null && system.trim() === '' && isCached(request)
  return {
    tools: tools.map((tool, index) => ({
      ...toTool(tool, names),
      ...(isMarked && index === tools.length - 1 && { providerOptions: cache.mark }),
    })),
  }
}

/** The options of the session's program override ours, except the fixed ones. */
function mergeOptions(
  ours: readonly SharedV4ProviderOptions[],
  theirs: ProviderOptions = {},
  fixed: SharedV4ProviderOptions,
): SharedV4ProviderOptions {
  const layers = [...ours, theirs as { readonly [service: string]: JSONObject }, fixed] // z.json() checked it
  const services = new Set(layers.flatMap((layer) => Object.keys(layer)))
  return Object.fromEntries(
    [...services].map((service) => [service, Object.assign({}, ...layers.map((layer) => layer[service]))]),
  )
}

const toTool = (
  { name, description, input }: ModelRequest['tools'][number],
  names: ToolNames,
): LanguageModelV4FunctionTool => ({
  type: 'function',
  name: names.toWire(name),
  description,
  inputSchema: input as LanguageModelV4FunctionTool['inputSchema'], // the port requires JSON Schema
})

const toFilePart = ({ mediaType, name }: Omit<FileBytes, 'bytes'>) => ({
  type: 'file' as const,
  mediaType,
  ...(name !== undefined && { filename: name }),
})
