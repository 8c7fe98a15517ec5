import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { AssistantPart, ModelRequest, RequestMessage, ToolResultPart, UserPart } from '@holdfast/core/ports'
import type { Dialect } from './dialect/dialect.ts'
import { readModel } from './said-by.ts'
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

/** The part of the SDK's prompt that we use; versions of the interface differ only in how a file is written. */
export type Prompt<File> = ((
  | { role: 'system'; content: string }
  | { role: 'user'; content: (Text | File)[] }
  | { role: 'assistant'; content: (Text | Reasoning | ToolCall)[] }
  | { role: 'tool'; content: ToolResult[] }
) &
  Marked)[]

export type FileBytes = { readonly mediaType: string; readonly name: string | undefined; readonly bytes: Uint8Array }

export type PromptOptions<File> = {
  readonly dialect: Dialect
  /** The model that is asked, by its service's name for it. */
  readonly modelId: string
  readonly names: ToolNames
  /** Media types the model takes beside text, or `image/*`; null when nobody knows. */
  readonly takes: readonly string[] | null
  readonly filePart: (file: FileBytes) => File
}

/** Our request in the SDK's words. Order and content are the request's; only what a service would refuse is left out. */
export function toPrompt<File>(request: ModelRequest, options: PromptOptions<File>): Prompt<File> {
  const prompt: Prompt<File> = request.system.trim() === '' ? [] : [{ role: 'system', content: request.system }]
  for (const message of request.messages) {
    const next = toMessage(message, options)
    const last = prompt.at(-1)
    if (next.content.length === 0) continue
    // Where an answer was left out, the people before and after it are heard as one: roles take turns.
    if (last?.role === 'user' && next.role === 'user') last.content.push(...next.content)
    else prompt.push(...between(last, next, options.dialect), next)
  }
  return prompt
}

/** Some services let nobody speak right after results but the model. */
function between<File>(
  last: Prompt<File>[number] | undefined,
  next: Prompt<File>[number],
  { answers: { beforePeople } }: Dialect,
): Prompt<File> {
  if (beforePeople === null || last?.role !== 'tool' || next.role !== 'user') return []
  return [{ role: 'assistant', content: [{ type: 'text', text: beforePeople }] }]
}

function toMessage<File>(message: RequestMessage, options: PromptOptions<File>): Prompt<File>[number] {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.content.flatMap((part) => userPart(part, options)) }
    case 'assistant':
      return answer(message.content, options)
    case 'tool':
      return { role: 'tool', content: message.content.map((result) => toolResult(result, options)) }
  }
}

function userPart<File>(part: UserPart, { filePart, dialect, takes }: PromptOptions<File>): (Text | File)[] {
  if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
  const { mediaType, name, bytes } = part
  const label = `file ${name ?? 'without a name'} (${mediaType})`
  const type = mediaType.toLowerCase()
  // Every kind of text is plain text to models.
  const isText = type.startsWith('text/') || type === 'application/json'
  const bytesMax = type.startsWith('image/') ? dialect.files.imageBytesMax : dialect.files.bytesMax
  const isReadable = (isText || isTaken(type, dialect, takes)) && bytes.length > 0 && bytes.length <= bytesMax
  // One attachment nobody can read must not make every later request fail: the model is told of it instead.
  if (!isReadable) return [{ type: 'text', text: `[${label} cannot be shown to you]` }]
  if (isText && !dialect.files.takesText)
    return [{ type: 'text', text: `[${label}]\n${Buffer.from(bytes).toString()}` }]
  return [filePart({ mediaType: isText ? 'text/plain' : type, name, bytes })]
}

function isTaken(type: string, { files }: Dialect, takes: readonly string[] | null): boolean {
  if (takes === null) return files.typesUnasked.test(type)
  return (
    files.types.test(type) &&
    takes.some((taken) => taken === type || (taken.endsWith('/*') && type.startsWith(taken.slice(0, -1))))
  )
}

function answer<File>(
  parts: readonly AssistantPart[],
  { dialect, modelId, names }: PromptOptions<File>,
): Extract<Prompt<File>[number], { role: 'assistant' }> {
  const sendable = parts.flatMap((part): AssistantPart[] => {
    const { given, isOwn } = readModel(part.meta, modelId)
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
    content: sent.map((part) => assistantPart(part, names, dialect)),
    ...(providerOptions && { providerOptions }),
  }
}

function isSendable(part: AssistantPart, answer: readonly AssistantPart[], dialect: Dialect): boolean {
  if (part.type === 'text') return part.text.trim() !== '' || dialect.answers.takesBlankText(part)
  return part.type === 'call' || dialect.thinking.isTaken(part, answer)
}

function assistantPart(part: AssistantPart, toolNames: ToolNames, { names }: Dialect): Text | Reasoning | ToolCall {
  // What the SDK gave us as metadata of this part goes back as its options, byte for byte; the log kept it as JSON.
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

const toolResult = <File>(
  { id, tool, text, isError }: ToolResultPart,
  { names, dialect }: PromptOptions<File>,
): ToolResult => ({
  type: 'tool-result',
  toolCallId: dialect.names.callId(id),
  toolName: names.toWire(tool),
  // An error result without a word is refused by services.
  output: isError
    ? { type: 'error-text', value: text.trim() === '' ? 'failed without a word' : text }
    : { type: 'text', value: text },
})
