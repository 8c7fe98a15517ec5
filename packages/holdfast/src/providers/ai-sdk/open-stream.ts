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
import type { Dialect, Thinking, ThinkingRequest } from './dialect/dialect.ts'
import { type FileBytes, markForCache, type Prompt, toPrompt } from './prompt.ts'
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

type StreamOptions = {
  readonly signal: AbortSignal
  readonly dialect: Dialect
  readonly names: ToolNames
  readonly known: KnownModelFacts
}

type OpenedStream = { readonly stream: ReadableStream<StreamPart>; readonly headers: Headers | undefined }

/** Starts one model call. Does not retry: that is the session's job. */
export async function openStream(
  model: AiSdkModel,
  request: ModelRequest,
  { signal, dialect, names, known }: StreamOptions,
): Promise<OpenedStream> {
  const promptOptions = { dialect, modelId: model.modelId, names, takes: known.takes ?? null }
  const think = (prompt: Prompt<unknown>) =>
    requestThinking(chooseLevel(prompt, request, dialect), dialect, known.thinkingLevels ?? null, {
      modelId: model.modelId,
      outputTokens: known.outputTokens ?? null,
      hasReasoning: model.specificationVersion !== 'v3',
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
      resultFilePart: noResultFiles,
    })
    const { stream, response } = await model.doStream({
      ...rest(think(prompt)),
      prompt: markCached(prompt, request, dialect),
    })
    return { stream, headers: response?.headers }
  }

  const filePart = ({ bytes, ...file }: FileBytes) => ({
    ...toFilePart(file),
    data: { type: 'data' as const, data: bytes },
  })
  const prompt = toPrompt(request, { ...promptOptions, filePart, resultFilePart: filePart })
  const thinking = think(prompt)
  const { stream, response } = await model.doStream({
    ...rest(thinking),
    prompt: markCached(prompt, request, dialect),
    ...(thinking.reasoning !== undefined && { reasoning: thinking.reasoning }),
  })
  return { stream, headers: response?.headers }
}

/** Anthropic refuses to think in a round that began without: an answer with calls must begin with its thinking. */
const chooseLevel = (prompt: Prompt<unknown>, { thinkingLevel }: ModelRequest, dialect: Dialect): ThinkingLevel =>
  dialect.thinking.mustBeginRound && beganWithoutThinking(prompt) ? 'off' : thinkingLevel

/** Sends the limit of the model only to services that require one. */
const limitOutput = ({ needsOutputLimit }: Dialect, outputTokens: KnownModelFacts['outputTokens']) =>
  needsOutputLimit && typeof outputTokens === 'number' ? { maxOutputTokens: outputTokens } : {}

/** A summary is requested once, so caching it is useless. */
const isCached = ({ purpose }: ModelRequest): boolean => purpose !== 'summary'

const markCached = <File, ResultFile>(
  prompt: Prompt<File, ResultFile>,
  request: ModelRequest,
  { cache }: Dialect,
): Prompt<File, ResultFile> => (cache.mark !== null && isCached(request) ? markForCache(prompt, cache.mark) : prompt)

/** Tools come before the system prompt, whose cache mark covers both. Without a system prompt, the last tool is marked. */
function toTools(request: ModelRequest, { cache }: Dialect, names: ToolNames) {
  const { tools, system } = request
  if (tools.length === 0) return {}
  const isMarked = cache.mark !== null && system.trim() === '' && isCached(request)
  return {
    tools: tools.map(({ name, description, input }, index) => ({
      type: 'function' as const,
      name: names.toWire(name),
      description,
      inputSchema: input as LanguageModelV4FunctionTool['inputSchema'], // the port requires JSON Schema
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

const toFilePart = ({ mediaType, name }: Omit<FileBytes, 'bytes'>) => ({
  type: 'file' as const,
  mediaType,
  ...(name !== undefined && { filename: name }),
})

/** The previous interface has other parts for files in results: they follow the results instead. */
const noResultFiles: ((file: FileBytes) => never) | null = null

const risingLevels: readonly ThinkingLevel[] = ['low', 'medium', 'high']

/** Returns the parameters for thinking at a level. A model that does not think gets none: services refuse them. */
function requestThinking(
  level: ThinkingLevel,
  { thinking }: Dialect,
  known: readonly ThinkingLevel[] | null,
  request: ThinkingRequest,
): Thinking {
  if (known === null) return thinking.isThinker(request.modelId) ? thinking.request(level, request) : {}
  const nearest = findNearestLevel(level, known)
  return nearest === null ? {} : thinking.request(nearest, request)
}

/** Returns the nearest level that a model has: rather less thinking than more, but not none if some was asked for. */
export function findNearestLevel(level: ThinkingLevel, known: readonly ThinkingLevel[]): ThinkingLevel | null {
  const levels = risingLevels.filter((one) => known.includes(one))
  if (levels.length === 0) return null
  if (known.includes(level)) return level
  const lower = levels.filter((one) => risingLevels.indexOf(one) < risingLevels.indexOf(level))
  return lower.at(-1) ?? levels[0] ?? null
}

/** Returns whether the current rounds began without thinking, by another model or with thinking off. */
function beganWithoutThinking(prompt: Prompt<unknown>): boolean {
  const last = prompt.findLastIndex(({ role }) => role === 'assistant')
  if (!hasCalls(prompt[last])) return false
  let first = last
  while (prompt[first - 1]?.role === 'tool' && hasCalls(prompt[first - 2])) first -= 2
  const begin = prompt[first]
  return begin?.role === 'assistant' && begin.content[0]?.type !== 'reasoning'
}

const hasCalls = (message: Prompt<unknown>[number] | undefined): boolean =>
  message?.role === 'assistant' && message.content.some(({ type }) => type === 'tool-call')
