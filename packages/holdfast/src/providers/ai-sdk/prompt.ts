import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { AssistantPart, ModelRequest, RequestMessage, ToolResultPart, UserPart } from '@holdfast/core/ports'

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

/** The part of the SDK's prompt that we use; versions of the interface differ only in how a file is written. */
export type Prompt<File> = (
  | { role: 'system'; content: string }
  | { role: 'user'; content: (Text | File)[] }
  | { role: 'assistant'; content: (Text | Reasoning | ToolCall)[] }
  | { role: 'tool'; content: ToolResult[] }
)[]

export type FileBytes = { readonly mediaType: string; readonly name: string | undefined; readonly bytes: Uint8Array }

export type PromptOptions<File> = {
  /** Anthropic refuses thinking it cannot verify, and an answer that ends in thinking. */
  readonly isAnthropic: boolean
  readonly filePart: (file: FileBytes) => File
}

/** Our request in the SDK's words. Order and content are the request's; only what a service would refuse is left out. */
export function toPrompt<File>(request: ModelRequest, options: PromptOptions<File>): Prompt<File> {
  const messages = request.messages
    .map((message) => toMessage(message, options))
    .filter((message) => message.content.length > 0)
  return request.system.trim() === '' ? messages : [{ role: 'system', content: request.system }, ...messages]
}

function toMessage<File>(message: RequestMessage, options: PromptOptions<File>): Prompt<File>[number] {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.content.flatMap((part) => userPart(part, options)) }
    case 'assistant':
      return { role: 'assistant', content: assistantParts(message.content, options.isAnthropic) }
    case 'tool':
      return { role: 'tool', content: message.content.map(toolResult) }
  }
}

function userPart<File>(part: UserPart, { filePart }: PromptOptions<File>): (Text | File)[] {
  if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
  const mediaType = readableAs(part.mediaType)
  if (mediaType !== null && part.bytes.length > 0) return [filePart({ mediaType, name: part.name, bytes: part.bytes })]
  // One attachment nobody can read must not make every later request fail: the model is told of it instead.
  return [{ type: 'text', text: `[file ${part.name ?? 'without a name'} (${part.mediaType}) cannot be shown to you]` }]
}

/** The media type models take such a file under, or null. Every kind of text is plain text to them. */
function readableAs(mediaType: string): string | null {
  const type = mediaType.toLowerCase()
  if (type.startsWith('text/') || type === 'application/json') return 'text/plain'
  return /^(image\/(png|jpeg|gif|webp)|application\/pdf)$/.test(type) ? type : null
}

function assistantParts(parts: readonly AssistantPart[], isAnthropic: boolean): (Text | Reasoning | ToolCall)[] {
  const sendable = parts.filter((part) => isSendable(part, isAnthropic))
  const last = isAnthropic ? sendable.findLastIndex(({ type }) => type !== 'thinking') : sendable.length - 1
  return sendable.slice(0, last + 1).map(assistantPart)
}

function isSendable(part: AssistantPart, isAnthropic: boolean): boolean {
  if (part.type === 'text') return part.text.trim() !== '' || part.meta !== undefined
  return part.type === 'call' || !isAnthropic || isSigned(part.meta)
}

function isSigned(meta: AssistantPart['meta']): boolean {
  const anthropic = meta?.['anthropic']
  if (typeof anthropic !== 'object' || anthropic === null) return false
  return (
    ('signature' in anthropic && typeof anthropic.signature === 'string') ||
    ('redactedData' in anthropic && typeof anthropic.redactedData === 'string')
  )
}

function assistantPart(part: AssistantPart): Text | Reasoning | ToolCall {
  // What the SDK gave us as metadata of this part goes back as its options, byte for byte; the log kept it as JSON.
  const marked: Marked = part.meta === undefined ? {} : { providerOptions: part.meta as ProviderOptions }
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...marked }
    case 'thinking':
      return { type: 'reasoning', text: part.text, ...marked }
    case 'call':
      return { type: 'tool-call', toolCallId: part.id, toolName: part.tool, input: part.args, ...marked }
  }
}

const toolResult = ({ id, tool, text, isError }: ToolResultPart): ToolResult => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: tool,
  // An error result without a word is refused by services.
  output: isError
    ? { type: 'error-text', value: text.trim() === '' ? 'failed without a word' : text }
    : { type: 'text', value: text },
})
