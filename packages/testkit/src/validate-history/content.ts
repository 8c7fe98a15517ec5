import type { AssistantPart, RequestMessage } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import type { ProviderRules } from './providers.ts'
import { isCall } from './rounds.ts'

/** The pattern of names and ids that all services accept. */
export const namePattern = /^[a-zA-Z0-9_-]{1,64}$/
/** The longest tool result: head and tail, plus room for the marker between them. */
const resultBytesMax = 2 * limits.toolOutputInlineBytesMax

/** I7, I10, I19 and I20: parts are complete, not empty, valid Unicode, not too long, and have valid names. */
export function contentOf(message: RequestMessage, index: number, particulars: ProviderRules): readonly string[] {
  const at = (part: number) => `messages.${index}.content.${part}`
  const empty = message.content.length === 0 ? [`I10: messages.${index}: the message is empty`] : []
  switch (message.role) {
    case 'user':
      return [...empty, ...message.content.flatMap((part, n) => (part.type === 'text' ? textOf(part.text, at(n)) : []))]
    case 'assistant':
      return [...empty, ...message.content.flatMap((part, n) => assistantPart(part, at(n), particulars))]
    case 'tool':
      return [
        ...empty,
        ...message.content.flatMap(({ id, tool, text }, n) => [
          ...namesOf(id, tool, at(n), particulars),
          ...unicodeOf(text, at(n)),
          ...(Buffer.byteLength(text) > resultBytesMax ? [`I19: ${at(n)}: the result is too long`] : []),
        ]),
      ]
  }
}

function assistantPart(part: AssistantPart, at: string, particulars: ProviderRules): readonly string[] {
  if (isCall(part)) return [...namesOf(part.id, part.tool, at, particulars), ...argsOf(part.args, at)]
  // Thinking may be empty: a redacted block has only its signature.
  return part.type === 'text' ? textOf(part.text, at) : unicodeOf(part.text, at)
}

const textOf = (text: string, at: string): readonly string[] =>
  text.trim() === '' ? [`I10: ${at}: the text is empty`] : unicodeOf(text, at)

const unicodeOf = (text: string, at: string): readonly string[] =>
  text.isWellFormed() ? [] : [`I19: ${at}: the text is not valid Unicode`]

/** Rejects incomplete arguments. An interrupted call has a string or nothing instead of an object. */
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

function namesOf(id: string, tool: string, at: string, { callIdCharsMax }: ProviderRules): readonly string[] {
  const isId = namePattern.test(id) && id.length <= callIdCharsMax
  return [
    ...(isId ? [] : [`I20: ${at}: call id ${JSON.stringify(id)} is refused`]),
    ...(namePattern.test(tool) ? [] : [`I20: ${at}: tool name ${JSON.stringify(tool)} is refused`]),
  ]
}
