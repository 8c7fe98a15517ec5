import type { LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { AssistantPart, ModelRequest, RequestMessage, ToolResultPart, UserPart } from '@holdfast/core/ports'
import type { Dialect } from './dialect/dialect.ts'
import { readPartMeta } from './part-meta.ts'
import type { ToolNames } from './tool-names.ts'

type ProviderOptions = NonNullable<LanguageModelV4Prompt[number]['providerOptions']>
type Marked = { providerOptions?: ProviderOptions }
type Text = { type: 'text'; text: string } & Marked
type Reasoning = { type: 'reasoning'; text: string } & Marked
type ToolCall = { type: 'tool-call'; toolCallId: string; toolName: string; input: unknown } & Marked
type ToolResult = {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  output: { type: 'text' | 'error-text'; value: string }
}

/** The part of the SDK's prompt that we use. Versions of the interface differ only in files. */
export type Prompt<File> = ((
  | { role: 'system'; content: string }
  | { role: 'user'; content: (Text | File)[] }
  | { role: 'assistant'; content: (Text | Reasoning | ToolCall)[] }
  | { role: 'tool'; content: ToolResult[] }
) &
  Marked)[]

export type FileBytes = { readonly mediaType: string; readonly name: string | undefined; readonly bytes: Uint8Array }

type PromptOptions<File> = {
  readonly dialect: Dialect
  /** The model, by its service's name for it. */
  readonly modelId: string
  readonly names: ToolNames
  /** Media types that the model accepts beside text, or `image/*`; null if unknown. */
  readonly takes: readonly string[] | null
  readonly filePart: (file: FileBytes) => File
}

/** Converts a request to the SDK's format. Leaves out only parts that the service would refuse. */
export function toPrompt<File>(request: ModelRequest, options: PromptOptions<File>): Prompt<File> {
  const prompt: Prompt<File> = request.system.trim() === '' ? [] : [{ role: 'system', content: request.system }]
  for (const message of request.messages) {
    const next = toMessage(message, options)
    const last = prompt.at(-1)
    if (next.content.length === 0) continue
    // Roles must alternate: the user messages around an omitted answer are joined.
    if (last?.role === 'user' && next.role === 'user') last.content.push(...next.content)
    else prompt.push(...fillIn(last, next, options.dialect), next)
  }
  return prompt
}

/** Some services refuse a user message right after tool results, so the model gets one in between. */
function fillIn<File>(
  last: Prompt<File>[number] | undefined,
  next: Prompt<File>[number],
  { answers: { beforeUser } }: Dialect,
): Prompt<File> {
  if (beforeUser === null || last?.role !== 'tool' || next.role !== 'user') return []
  return [{ role: 'assistant', content: [{ type: 'text', text: beforeUser }] }]
}

function toMessage<File>(message: RequestMessage, options: PromptOptions<File>): Prompt<File>[number] {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.content.flatMap((part) => toUserPart(part, options)) }
    case 'assistant':
      return toAnswer(message.content, options)
    case 'tool':
      return { role: 'tool', content: message.content.map((result) => toToolResult(result, options)) }
  }
}

function toUserPart<File>(part: UserPart, { filePart, dialect, takes }: PromptOptions<File>): (Text | File)[] {
  if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
  const { mediaType, name, bytes } = part
  const label = `file ${name ?? 'without a name'} (${mediaType})`
  const type = mediaType.toLowerCase()
  const isText = type.startsWith('text/') || type === 'application/json'
  const bytesMax = type.startsWith('image/') ? dialect.files.imageBytesMax : dialect.files.bytesMax
  const isReadable = (isText || isAccepted(type, dialect, takes)) && bytes.length > 0 && bytes.length <= bytesMax
  // An unreadable file would make every later request fail, so the model gets a note instead.
  if (!isReadable) return [{ type: 'text', text: `[${label} cannot be shown to you]` }]
  if (isText && !dialect.files.acceptsText)
    return [{ type: 'text', text: `[${label}]\n${Buffer.from(bytes).toString()}` }]
  return [filePart({ mediaType: isText ? 'text/plain' : type, name, bytes })]
}

function isAccepted(type: string, { files }: Dialect, takes: readonly string[] | null): boolean {
  if (takes === null) return files.typesIfUnknown.test(type)
  return (
    files.types.test(type) &&
    takes.some((taken) => taken === type || (taken.endsWith('/*') && type.startsWith(taken.slice(0, -1))))
  )
}

function toAnswer<File>(
  parts: readonly AssistantPart[],
  { dialect, modelId, names }: PromptOptions<File>,
): Extract<Prompt<File>[number], { role: 'assistant' }> {
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

const toToolResult = <File>(
  { id, tool, text, isError }: ToolResultPart,
  { names, dialect }: PromptOptions<File>,
): ToolResult => ({
  type: 'tool-result',
  toolCallId: dialect.names.callId(id),
  toolName: names.toWire(tool),
  // Services refuse an error without text.
  output: isError
    ? { type: 'error-text', value: text.trim() === '' ? 'failed without a message' : text }
    : { type: 'text', value: text },
})

/**
 * Marks where the service shall cache: after the system prompt, after the last user or tool message, and where that was
 * in the previous request. Only the marks move between requests; the content stays the same.
 */
export function markForCache<File>(prompt: Prompt<File>, mark: SharedV4ProviderOptions): Prompt<File> {
  const isInput = ({ role }: Prompt<File>[number]) => role === 'user' || role === 'tool'
  const last = prompt.findLastIndex(isInput)
  const answer = prompt.slice(0, Math.max(0, last)).findLastIndex(({ role }) => role === 'assistant')
  const previous = prompt.slice(0, Math.max(0, answer)).findLastIndex(isInput)
  const marked = new Set([prompt.findIndex(({ role }) => role === 'system'), last, previous])
  return prompt.map((message, index) => (marked.has(index) ? { ...message, providerOptions: mark } : message))
}
