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
import { markForCache } from './cache-marks.ts'
import type { Dialect, Thinking } from './dialect/dialect.ts'
import { type FileBytes, type Prompt, toPrompt } from './prompt.ts'
import { thinkingOf } from './thinking.ts'
import type { ToolNames } from './tool-names.ts'
import { isUnthought } from './unthought.ts'

/** A model object of any `@ai-sdk/*` package, of this interface or the one before it. */
export type AiSdkModel = LanguageModelV3 | LanguageModelV4
export type StreamPart = LanguageModelV3StreamPart | LanguageModelV4StreamPart

/** What is known of a model; null, or left out, where nobody knows. */
export type KnownOfModel = {
  /** How many tokens it says at most. */
  readonly outputTokens?: number | null | undefined
  /** Which files it takes beside text: media types, or `image/*`. */
  readonly takes?: readonly string[] | null | undefined
  readonly thinkingLevels?: readonly ThinkingLevel[] | null | undefined
}

export type StreamOptions = {
  readonly signal: AbortSignal
  readonly dialect: Dialect
  readonly names: ToolNames
  readonly known: KnownOfModel
}

export type OpenedStream = { readonly stream: ReadableStream<StreamPart>; readonly headers: Headers | undefined }

/** Begins one model call. There is no retry below this line: retrying is the session's business. */
export async function openStream(
  model: AiSdkModel,
  request: ModelRequest,
  options: StreamOptions,
): Promise<OpenedStream> {
  const { signal, dialect, names, known } = options
  const spoken = { dialect, modelId: model.modelId, names, takes: known.takes ?? null }
  const think = (prompt: Prompt<unknown>) =>
    thinkingOf(levelFor(prompt, request, dialect), {
      dialect,
      modelId: model.modelId,
      outputTokens: known.outputTokens ?? null,
      hasWord: model.specificationVersion !== 'v3',
      known: known.thinkingLevels ?? null,
    })
  const rest = (thinking: Thinking) => ({
    abortSignal: signal,
    ...toolsOf(request, dialect, names),
    ...limitOf(dialect, { outputTokens: thinking.outputTokensMax ?? known.outputTokens }),
    providerOptions: withOptions(
      [dialect.options, thinking.options ?? {}, isKept(request) ? dialect.cache.options(model.modelId) : {}],
      request.providerOptions,
      dialect.fixedOptions,
    ),
  })

  if (model.specificationVersion === 'v3') {
    const prompt = toPrompt(request, {
      ...spoken,
      filePart: ({ bytes, ...file }) => ({ ...named(file), data: bytes }),
    })
    const { stream, response } = await model.doStream({
      ...rest(think(prompt)),
      prompt: cached(prompt, request, dialect),
    })
    return { stream, headers: response?.headers }
  }

  const prompt = toPrompt(request, {
    ...spoken,
    filePart: ({ bytes, ...file }) => ({ ...named(file), data: { type: 'data' as const, data: bytes } }),
  })
  const thinking = think(prompt)
  const { stream, response } = await model.doStream({
    ...rest(thinking),
    prompt: cached(prompt, request, dialect),
    ...(thinking.reasoning !== undefined && { reasoning: thinking.reasoning }),
  })
  return { stream, headers: response?.headers }
}

const levelFor = (prompt: Prompt<unknown>, { thinkingLevel }: ModelRequest, dialect: Dialect): ThinkingLevel =>
  dialect.thinking.isFromTheStart && isUnthought(prompt) ? 'off' : thinkingLevel

/** A service that wants a limit gets the model's own; one that does not would only be held to it. */
const limitOf = ({ wantsOutputLimit }: Dialect, { outputTokens }: Pick<KnownOfModel, 'outputTokens'>) =>
  wantsOutputLimit && typeof outputTokens === 'number' ? { maxOutputTokens: outputTokens } : {}

/** A summary is asked for once: nobody would read what the service kept of it. */
const isKept = ({ purpose }: ModelRequest): boolean => purpose !== 'summary'

const cached = <File>(prompt: Prompt<File>, request: ModelRequest, { cache }: Dialect): Prompt<File> =>
  cache.mark !== null && isKept(request) ? markForCache(prompt, cache.mark) : prompt

/** Tools stand before the instructions, so that the mark on those covers both; without any, the last tool carries it. */
function toolsOf(request: ModelRequest, { cache }: Dialect, names: ToolNames) {
  const { tools, system } = request
  if (tools.length === 0) return {}
  const isMarked = cache.mark !== null && system.trim() === '' && isKept(request)
  return {
    tools: tools.map((tool, index) => ({
      ...toTool(tool, names),
      ...(isMarked && index === tools.length - 1 && { providerOptions: cache.mark }),
    })),
  }
}

/** What the program that started the session asked of the service beats what we would ask, but not what we must. */
function withOptions(
  ours: readonly SharedV4ProviderOptions[],
  theirs: ProviderOptions = {},
  fixed: SharedV4ProviderOptions,
): SharedV4ProviderOptions {
  const layers = [...ours, theirs as { readonly [service: string]: JSONObject }, fixed] // z.json() is JSON by its own word
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
  inputSchema: input as LanguageModelV4FunctionTool['inputSchema'], // a tool's schema is JSON Schema by our port's word
})

const named = ({ mediaType, name }: Omit<FileBytes, 'bytes'>) => ({
  type: 'file' as const,
  mediaType,
  ...(name !== undefined && { filename: name }),
})
