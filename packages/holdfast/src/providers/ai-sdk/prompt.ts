import type { LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type {
  AssistantPart,
  ModelRequest,
  RequestFile,
  RequestMessage,
  ToolResultPart,
  UserPart,
} from '@holdfast/core/ports'
import { clip } from '@holdfast/protocol'
import type { Dialect } from './dialect/dialect.ts'
import { readPartMeta } from './part-meta.ts'
import type { ToolNames } from './tool-names.ts'

type ProviderOptions = NonNullable<LanguageModelV4Prompt[number]['providerOptions']>
type Marked = { providerOptions?: ProviderOptions }
type Text = { type: 'text'; text: string } & Marked
type Reasoning = { type: 'reasoning'; text: string } & Marked
type ToolCall = { type: 'tool-call'; toolCallId: string; toolName: string; input: unknown } & Marked
type ToolResult<ResultFile> = {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  output:
    | { type: 'text' | 'error-text'; value: string }
    | { type: 'content'; value: ({ type: 'text'; text: string } | ResultFile)[] }
}

/** The part of the SDK's prompt that we use. Versions of the interface differ only in files. */
export type Prompt<File, ResultFile = unknown> = ((
  | { role: 'system'; content: string }
  | { role: 'user'; content: (Text | File)[] }
  | { role: 'assistant'; content: (Text | Reasoning | ToolCall)[] }
  | { role: 'tool'; content: ToolResult<ResultFile>[] }
) &
  Marked)[]

export type FileBytes = { readonly mediaType: string; readonly name: string | undefined; readonly bytes: Uint8Array }

type PromptOptions<File, ResultFile> = {
  readonly dialect: Dialect
  /** The model, by its service's name for it. */
  readonly modelId: string
  readonly names: ToolNames
  /** Media types that the model accepts beside text, or `image/*`; null if unknown. */
  readonly takes: readonly string[] | null
  readonly filePart: (file: FileBytes) => File
  /** Makes a file part of a tool result; null if the interface of the model has none that we use. */
  readonly resultFilePart: ((file: FileBytes) => ResultFile) | null
}

/** Converts a request to the SDK's format. Leaves out only parts that the service would refuse. */
export function toPrompt<File, ResultFile>(
  request: ModelRequest,
  options: PromptOptions<File, ResultFile>,
): Prompt<File, ResultFile> {
  const prompt: Prompt<File, ResultFile> =
    request.system.trim() === '' ? [] : [{ role: 'system', content: request.system }]
  for (const next of request.messages.flatMap((message) => toMessages(message, options))) {
    const last = prompt.at(-1)
    if (next.content.length === 0) continue
    // Roles must alternate: the user messages around an omitted answer are joined.
    if (last?.role === 'user' && next.role === 'user') last.content.push(...next.content)
    else prompt.push(...fillIn(last, next, options.dialect), next)
  }
  return prompt
}

/** Some services refuse a user message right after tool results, so the model gets one in between. */
function fillIn<File, ResultFile>(
  last: Prompt<File, ResultFile>[number] | undefined,
  next: Prompt<File, ResultFile>[number],
  { answers: { beforeUser } }: Dialect,
): Prompt<File, ResultFile> {
  if (beforeUser === null || last?.role !== 'tool' || next.role !== 'user') return []
  return [{ role: 'assistant', content: [{ type: 'text', text: beforeUser }] }]
}

function toMessages<File, ResultFile>(
  message: RequestMessage,
  options: PromptOptions<File, ResultFile>,
): Prompt<File, ResultFile> {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: message.content.flatMap((part) => toUserPart(part, options)) }]
    case 'assistant':
      return [toAnswer(message.content, options)]
    case 'tool': {
      const content = message.content.map((result) => toToolResult(result, options))
      const files = message.content.filter((result) => !mayHoldFiles(result, options))
      const following = files.flatMap((result) => followingFiles(result, options))
      return [
        { role: 'tool', content },
        ...(following.length > 0 ? [{ role: 'user' as const, content: following }] : []),
      ]
    }
  }
}

function toUserPart<File>(part: UserPart, options: PromptOptions<File, unknown>): (Text | File)[] {
  if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
  return [toFilePart(part, options, options.filePart)]
}

function toFilePart<File>(
  { mediaType, name, bytes }: RequestFile,
  { dialect, takes }: PromptOptions<unknown, unknown>,
  filePart: (file: FileBytes) => File,
): { type: 'text'; text: string } | File {
  const label = `file ${name ?? 'without a name'} (${mediaType})`
  const type = mediaType.toLowerCase()
  const isText = type.startsWith('text/') || type === 'application/json'
  const bytesMax = type.startsWith('image/') ? dialect.files.imageBytesMax : dialect.files.bytesMax
  const isReadable = (isText || isAccepted(type, dialect, takes)) && bytes.length > 0 && bytes.length <= bytesMax
  // An unreadable file would make every later request fail, so the model gets a note instead.
  if (!isReadable) return { type: 'text', text: `[${label} cannot be shown to you]` }
  if (isText && !dialect.files.acceptsText)
    return { type: 'text', text: `[${label}]\n${Buffer.from(bytes).toString()}` }
  return filePart({ mediaType: isText ? 'text/plain' : type, name, bytes })
}

function isAccepted(type: string, { files }: Dialect, takes: readonly string[] | null): boolean {
  if (takes === null) return files.typesIfUnknown.test(type)
  return (
    files.types.test(type) &&
    takes.some((taken) => taken === type || (taken.endsWith('/*') && type.startsWith(taken.slice(0, -1))))
  )
}

function toAnswer(
  parts: readonly AssistantPart[],
  { dialect, modelId, names }: PromptOptions<unknown, unknown>,
): Extract<Prompt<never>[number], { role: 'assistant' }> {
  const sendable = parts.flatMap((part): AssistantPart[] => {
    const { given, isOwn } = readPartMeta(part.meta, modelId)
    const isForeign = dialect.answers.isPerModel && !isOwn
    if (part.type === 'thinking' && isForeign) return []
    const own = { ...part, meta: isForeign ? undefined : given }
    return isSendable(own, parts, dialect) ? [own] : []
  })
  const last = dialect.thinking.mayEndAnswer
    ? sendable.length - 1
    : sendable.findLastIndex(({ type }) => type !== 'thinking')
  const sent = sendable.slice(0, last + 1)
  const providerOptions = dialect.answers.options(sent)
  return {
    role: 'assistant',
    content: sent.map((part) => toAssistantPart(part, names, dialect)),
    ...(providerOptions && { providerOptions }),
  }
}

function isSendable(part: AssistantPart, answer: readonly AssistantPart[], dialect: Dialect): boolean {
  if (part.type === 'text') return part.text.trim() !== '' || dialect.answers.acceptsBlankText(part)
  return part.type === 'call' || dialect.thinking.isAccepted(part, answer)
}

function toAssistantPart(part: AssistantPart, toolNames: ToolNames, { names }: Dialect): Text | Reasoning | ToolCall {
  // The SDK's metadata of this part goes back unchanged as its options.
  const marked: Marked = part.meta === undefined ? {} : { providerOptions: part.meta as ProviderOptions }
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...marked }
    case 'thinking':
      return { type: 'reasoning', text: part.text, ...marked }
    case 'call':
      return {
        type: 'tool-call',
        toolCallId: names.callId(part.id),
        toolName: toolNames.toWire(part.tool),
        input: part.args,
        ...marked,
      }
  }
}

function toToolResult<ResultFile>(
  result: ToolResultPart,
  options: PromptOptions<unknown, ResultFile>,
): ToolResult<ResultFile> {
  const { id, tool, text, isError, files = [] } = result
  const { names, dialect, resultFilePart } = options
  const about = {
    type: 'tool-result',
    toolCallId: dialect.names.callId(id),
    toolName: names.toWire(tool),
  } as const
  // Services refuse an error without text.
  if (isError)
    return { ...about, output: { type: 'error-text', value: text.trim() === '' ? 'failed without a message' : text } }
  if (files.length === 0 || resultFilePart === null || !mayHoldFiles(result, options))
    return { ...about, output: { type: 'text', value: text } }
  const parts = files.map((file) => toFilePart(file, options, resultFilePart))
  return { ...about, output: { type: 'content', value: [{ type: 'text', text }, ...parts] } }
}

const mayHoldFiles = ({ isError }: ToolResultPart, { dialect, resultFilePart }: PromptOptions<unknown, unknown>) =>
  dialect.files.inResults && resultFilePart !== null && !isError

/** Returns the files of a result as parts of the user message after it. */
function followingFiles<File>(
  { tool, text, files = [] }: ToolResultPart,
  options: PromptOptions<File, unknown>,
): (Text | File)[] {
  if (files.length === 0) return []
  const label: Text = { type: 'text', text: `From the result of ${tool}: ${clip(text, 500)}` }
  return [label, ...files.flatMap((file) => toUserPart(file, options))]
}

/**
 * Marks where the service shall cache: after the system prompt, after the last user or tool message, and where that was
 * in the previous request. Only the marks move between requests; the content stays the same.
 */
export function markForCache<File, ResultFile>(
  prompt: Prompt<File, ResultFile>,
  mark: SharedV4ProviderOptions,
): Prompt<File, ResultFile> {
  const isInput = ({ role }: Prompt<File, ResultFile>[number]) => role === 'user' || role === 'tool'
  const last = prompt.findLastIndex(isInput)
  const answer = prompt.slice(0, Math.max(0, last)).findLastIndex(({ role }) => role === 'assistant')
  const previous = prompt.slice(0, Math.max(0, answer)).findLastIndex(isInput)
  const marked = new Set([prompt.findIndex(({ role }) => role === 'system'), last, previous])
  return prompt.map((message, index) => (marked.has(index) ? { ...message, providerOptions: mark } : message))
}
