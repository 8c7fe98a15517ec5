import { type BlobHash, type Content, continueText, type EventOf, outcomeOutput, providerOf } from '@holdfast/protocol'
import type {
  AssistantPart,
  ModelRequest,
  RequestFile,
  RequestMessage,
  ToolResultPart,
  UserPart,
} from '../ports/provider.ts'
import type { RequestAsked, WindowPosition } from '../ports/request-builder.ts'
import { fatesOf, fileForModel, resultFiles } from './model-files.ts'
import { quoteAll, stepOf, type Window, type WindowMessage } from './window.ts'

type RequestInput = Omit<RequestAsked, keyof WindowPosition> & {
  readonly window: Window
  /** The bytes of the window's files. */
  readonly files: ReadonlyMap<BlobHash, Uint8Array>
}

/**
 * Builds a model request from records and blobs alone. The same log gives the same bytes, also after a branch, restart
 * or compaction. The result is a history that every provider accepts.
 */
export function buildRequest(parts: RequestInput): ModelRequest {
  const { model, thinkingLevel, system, tools, window, files, takes, providerOptions } = parts
  const fates = fatesOf(window, takes)
  const filePart: ToFilePart = (part) => fileForModel(part, fates.get(part), files.get(part.blob), takes)
  const messages: RequestMessage[] = []
  const replaced = cutPartText(window)
  if (replaced !== '') addUser(messages, [{ type: 'text', text: replaced }])
  if (window.prompt?.event.type === 'user.said') addUser(messages, userParts(window.prompt.event, filePart))
  for (const round of roundsOf(window.messages)) addRound(messages, round, providerOf(model), filePart)
  if (messages.at(-1)?.role !== 'user' && messages.at(-1)?.role !== 'tool') addUser(messages, [continuePart])
  return { model, thinkingLevel, system, tools, messages, ...(providerOptions && { providerOptions }) }
}

/** Returns the text that replaces the cut part: its summary and the pinned messages. */
function cutPartText({ summary, pinned }: Window): string {
  const quoted = quoteAll(pinned)
  return [
    summary ? `Summary of the conversation so far:\n\n${summary.toWellFormed()}` : '',
    quoted === '' ? '' : `Pinned messages from it, as they were said:\n\n${quoted}`,
  ]
    .filter((text) => text !== '')
    .join('\n\n')
}

/** Fills a gap between two answers, or after a cut one: providers require a user message there. */
const continuePart: UserPart = { type: 'text', text: continueText }

type Round = readonly WindowMessage[]
type ToFilePart = (part: Extract<Content[number], { type: 'file' }>) => UserPart

/** Groups the messages of each step into a round; each user message is a round of its own. */
function roundsOf(messages: readonly WindowMessage[]): readonly Round[] {
  const rounds: WindowMessage[][] = []
  let step: number | null = null
  for (const message of messages) {
    const last = rounds.at(-1)
    if (last && stepOf(message) !== null && stepOf(message) === step) last.push(message)
    else rounds.push([message])
    step = stepOf(message)
  }
  return rounds
}

function addRound(messages: RequestMessage[], round: Round, provider: string, filePart: ToFilePart): void {
  const [first] = round
  if (first?.event.type === 'user.said') {
    addUser(messages, userParts(first.event, filePart))
    return
  }
  if (first?.event.type === 'note.added') {
    const text = first.event.text.toWellFormed()
    if (text.trim() !== '') addUser(messages, [{ type: 'text', text: `System message:\n\n${text}` }])
    return
  }
  const author = round.every(isReadable) ? provider : null
  const content = answered(round.flatMap((message) => assistantPart(message, author)))
  if (content.length === 0) return
  if (messages.length === 0 || messages.at(-1)?.role === 'assistant') addUser(messages, [continuePart])
  messages.push({ role: 'assistant', content })
  const results = round.flatMap((message) => toolResult(message, filePart))
  if (results.length > 0) messages.push({ role: 'tool', content: results })
}

/** Drops trailing thinking: without text or a call after it, some providers refuse it. */
const answered = (parts: readonly AssistantPart[]): readonly AssistantPart[] =>
  parts.slice(0, parts.findLastIndex(({ type }) => type !== 'thinking') + 1)

/** Adds user parts; consecutive user messages become one, because roles must alternate. */
function addUser(messages: RequestMessage[], parts: readonly UserPart[]): void {
  const last = messages.at(-1)
  if (last?.role === 'user') messages[messages.length - 1] = { role: 'user', content: [...last.content, ...parts] }
  else messages.push({ role: 'user', content: parts })
}

function userParts({ content, context }: EventOf<'user.said'>, filePart: ToFilePart): readonly UserPart[] {
  const parts = content.flatMap((part): UserPart[] => {
    if (part.type === 'file') return [filePart(part)]
    return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text.toWellFormed() }]
  })
  if (context !== undefined) parts.push({ type: 'text', text: `Context from a hook:\n\n${context.toWellFormed()}` })
  return parts.length > 0 ? parts : [continuePart]
}

/** Thinking with an unpaired surrogate cannot be resent; then the whole round is sent without opaque data. */
const isReadable = ({ event }: WindowMessage): boolean => event.type !== 'thinking.said' || event.text.isWellFormed()

/**
 * Returns a message as assistant parts. Thinking and other opaque data go back only to the provider that wrote them,
 * and only unchanged.
 */
function assistantPart({ seq, event }: WindowMessage, provider: string | null): readonly AssistantPart[] {
  if (event.type === 'user.said' || event.type === 'note.added') return []
  const isOwn = event.provider === provider
  const metaIf = (isUnchanged: boolean) =>
    isOwn && isUnchanged && event.meta !== undefined ? { meta: event.meta } : {}
  switch (event.type) {
    case 'thinking.said':
      return isOwn && !event.interrupted ? [{ type: 'thinking', text: event.text, ...metaIf(true) }] : []
    case 'text.said': {
      const text = event.text.toWellFormed()
      return text.trim() === '' ? [] : [{ type: 'text', text, ...metaIf(text === event.text) }]
    }
    case 'call.requested': {
      const tool = sendableName(event.tool)
      const args = wellFormed(event.args)
      const isUnchanged = tool === event.tool && JSON.stringify(args) === JSON.stringify(event.args)
      return [{ type: 'call', id: `c${seq}`, tool, args, ...metaIf(isUnchanged) }]
    }
  }
}

/** Returns a tool name that every provider accepts: a model may have asked for a tool by an invalid name. */
const sendableName = (tool: string): string => tool.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || '_'

/** Replaces unpaired surrogates, which JSON arguments may contain. */
function wellFormed<Value>(value: Value): Value
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map((one) => wellFormed(one))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name.toWellFormed(), wellFormed(inner)]))
}

/**
 * Returns the one result of a call. A call without an outcome is answered as interrupted. A file that the model does not
 * get is named in the text.
 */
function toolResult(message: WindowMessage, filePart: ToFilePart): readonly ToolResultPart[] {
  const { seq, event, outcome } = message
  if (event.type !== 'call.requested') return []
  const settled = outcome ?? { type: 'interrupted', code: 'crashed' }
  const notes: string[] = []
  const files: RequestFile[] = []
  for (const file of resultFiles(message)) {
    const part = filePart(file)
    if (part.type === 'file') files.push(part)
    else notes.push(part.text)
  }
  const text = [outcomeOutput(settled).text.toWellFormed(), ...notes].join('\n')
  const isError = settled.type !== 'ok'
  return [{ id: `c${seq}`, tool: sendableName(event.tool), text, isError, ...(files.length > 0 && { files }) }]
}
