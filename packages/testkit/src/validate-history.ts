import type { AssistantPart, ModelRequest, RequestMessage } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'

/** Where providers draw the line for names and ids. */
const namePattern = /^[a-zA-Z0-9_-]{1,64}$/
/** Long output is shown by head and tail; the marker between them may take some more. */
const resultBytesMax = 2 * limits.toolOutputInlineBytesMax

type Call = Extract<AssistantPart, { readonly type: 'call' }>
type ToolMessage = Extract<RequestMessage, { readonly role: 'tool' }>

/**
 * What is wrong with a request, by the rules every provider holds us to (I1 to I5, I7, I10, I11, I19, I20 of the
 * reliability reference). Empty when nothing is. Written apart from the builder, so that the two cannot share a mistake.
 */
export function validateHistory({ messages, tools }: ModelRequest): readonly string[] {
  return [
    ...startOf(messages),
    ...messages.flatMap((message, index) => [
      ...contentOf(message, index),
      ...(message.role === 'assistant' ? roundAfter(message.content.filter(isCall), messages[index + 1], index) : []),
      ...(message.role === 'tool' ? resultsAfter(message, messages[index - 1], index) : []),
    ]),
    ...duplicates(
      messages
        .flatMap((message) => (message.role === 'assistant' ? message.content.filter(isCall) : []))
        .map(({ id }) => id),
    ).map((id) => `I4: call id ${id} is used twice`),
    ...tools.flatMap(({ name }) =>
      namePattern.test(name) ? [] : [`I20: tool name ${JSON.stringify(name)} is refused`],
    ),
    ...duplicates(tools.map(({ name }) => name)).map((name) => `I20: tool ${name} is offered twice`),
  ]
}

function startOf(messages: readonly RequestMessage[]): readonly string[] {
  const first = messages[0]
  if (first === undefined) return ['I11: there is no message']
  return first.role === 'user' ? [] : [`I11: the first message is of role ${first.role}, not user`]
}

/** I1, I3 and I5: each call has its one result, in call order, in the very next message. */
function roundAfter(calls: readonly Call[], next: RequestMessage | undefined, index: number): readonly string[] {
  if (calls.length === 0) return []
  if (next?.role !== 'tool') {
    const rule = next === undefined ? 'I1' : 'I5'
    return [
      `${rule}: messages.${index}: calls ${calls.map(({ id }) => id).join(', ')} are not followed by their results`,
    ]
  }
  const answered = next.content.map(({ id }) => id)
  const missing = calls.filter(({ id }) => !answered.includes(id))
  const order = [...new Set(calls.map(({ id }) => id))].filter((id) => answered.includes(id))
  const given = [...new Set(answered)].filter((id) => order.includes(id))
  return [
    ...missing.map(({ id }) => `I1: messages.${index}: call ${id} has no result`),
    ...(order.join() === given.join() ? [] : [`I1: messages.${index + 1}: results are not in call order`]),
  ]
}

/** I2 and I3: no result without its call just before it, and none twice. */
function resultsAfter({ content }: ToolMessage, before: RequestMessage | undefined, index: number): readonly string[] {
  const calls = before?.role === 'assistant' ? before.content.filter(isCall) : []
  return [
    ...content
      .filter(({ id }) => !calls.some((call) => call.id === id))
      .map(({ id }) => `I2: messages.${index}: result ${id} has no call in the message before`),
    ...duplicates(content.map(({ id }) => id)).map((id) => `I3: messages.${index}: call ${id} has two results`),
  ]
}

function contentOf(message: RequestMessage, index: number): readonly string[] {
  const at = (part: number) => `messages.${index}.content.${part}`
  const empty = message.content.length === 0 ? [`I10: messages.${index}: the message is empty`] : []
  switch (message.role) {
    case 'user':
      return [...empty, ...message.content.flatMap((part, n) => (part.type === 'text' ? textOf(part.text, at(n)) : []))]
    case 'assistant':
      return [...empty, ...message.content.flatMap((part, n) => assistantPart(part, at(n)))]
    case 'tool':
      return [
        ...empty,
        ...message.content.flatMap(({ id, tool, text }, n) => [
          ...namesOf(id, tool, at(n)),
          ...unicodeOf(text, at(n)),
          ...(Buffer.byteLength(text) > resultBytesMax ? [`I19: ${at(n)}: the result is too long`] : []),
        ]),
      ]
  }
}

function assistantPart(part: AssistantPart, at: string): readonly string[] {
  if (isCall(part)) return [...namesOf(part.id, part.tool, at), ...argsOf(part.args, at)]
  // Thinking may be empty: a redacted block has only its signature.
  return part.type === 'text' ? textOf(part.text, at) : unicodeOf(part.text, at)
}

const textOf = (text: string, at: string): readonly string[] =>
  text.trim() === '' ? [`I10: ${at}: the text is empty`] : unicodeOf(text, at)

const unicodeOf = (text: string, at: string): readonly string[] =>
  text.isWellFormed() ? [] : [`I19: ${at}: the text is not valid Unicode`]

/** I7: whole arguments only. A cut call leaves a string or nothing where an object belongs. */
function argsOf(args: unknown, at: string): readonly string[] {
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return [`I7: ${at}: the arguments are no object`]
  const json = JSON.stringify(args)
  return [
    ...(stringsIn(args).every((text) => text.isWellFormed())
      ? []
      : [`I19: ${at}: the arguments are not valid Unicode`]),
    ...(Buffer.byteLength(json) > limits.callArgsBytesMax ? [`I19: ${at}: the arguments are too long`] : []),
  ]
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [key, ...stringsIn(inner)])
}

const namesOf = (id: string, tool: string, at: string): readonly string[] => [
  ...(namePattern.test(id) ? [] : [`I20: ${at}: call id ${JSON.stringify(id)} is refused`]),
  ...(namePattern.test(tool) ? [] : [`I20: ${at}: tool name ${JSON.stringify(tool)} is refused`]),
]

const isCall = (part: AssistantPart): part is Call => part.type === 'call'

const duplicates = (ids: readonly string[]): readonly string[] => [
  ...new Set(ids.filter((id, index) => ids.indexOf(id) !== index)),
]
