import type { AssistantPart, ModelRequest } from '@holdfast/core/ports'
import { providerOf } from '@holdfast/protocol'
import { metaNames, type ProviderRules } from './providers.ts'

/** I8 and I9: opaque data is complete, on the part it belongs to, and only sent to the service it came from. */
export const opaqueProblems = (request: ModelRequest, rules: ProviderRules): readonly string[] =>
  request.messages.flatMap((message, index) => {
    if (message.role !== 'assistant') return []
    const at = (part: number) => `messages.${index}.content.${part}`
    const isOwn = rules.metaName !== null && providerOf(request.model) === rules.metaName
    return [
      ...message.content.flatMap((part, n) => [
        ...foreignData(part, rules, at(n)),
        ...missingData(part, rules, at(n), isOwn),
      ]),
      ...danglingThinking(message.content, rules, `messages.${index}`),
      ...(rules.metaName === 'openai' ? reasoningItems(message.content, `messages.${index}`) : []),
    ]
  })

const foreignData = ({ meta = {} }: AssistantPart, { metaName }: ProviderRules, at: string): readonly string[] =>
  metaNames
    .filter((name) => name !== metaName && name in meta)
    .map((name) => `I9: ${at}: data of ${name} would be sent to another service`)

function missingData(part: AssistantPart, { metaName }: ProviderRules, at: string, isOwn: boolean): readonly string[] {
  const own = metaName === null ? undefined : part.meta?.[metaName]
  const has = (name: string) => typeof fieldOf(own, name) === 'string' && fieldOf(own, name) !== ''
  if (own === undefined) {
    // A service that signs its thinking signs all of it. Google does not, so it is not checked.
    const isLost = isOwn && metaName !== 'google' && part.type === 'thinking'
    return isLost ? [`I8: ${at}: the thinking has lost its signature`] : []
  }
  if (metaName === 'anthropic' && part.type === 'thinking' && !has('signature') && !has('redactedData')) {
    return [`I8: ${at}: the thinking has no signature`]
  }
  if (metaName === 'openai' && part.type === 'thinking' && !has('itemId')) {
    return [`I8: ${at}: the thinking has no item id`]
  }
  if (metaName === 'google' && fieldOf(own, 'thoughtSignature') !== undefined && !has('thoughtSignature')) {
    return [`I8: ${at}: the signature is empty`]
  }
  return []
}

/** Finds thinking at the end of an answer, with nothing after it. */
function danglingThinking(
  parts: readonly AssistantPart[],
  { thinkingBinds }: ProviderRules,
  at: string,
): readonly string[] {
  return thinkingBinds && parts.at(-1)?.type === 'thinking'
    ? [`I8: ${at}: the thinking is sent without the item it belongs to`]
    : []
}

/** Checks that the parts of a reasoning item are adjacent and the last one has the encrypted content. */
function reasoningItems(parts: readonly AssistantPart[], at: string): readonly string[] {
  const items = parts.map((part) => (part.type === 'thinking' ? fieldOf(part.meta?.['openai'], 'itemId') : undefined))
  return [...new Set(items)].flatMap((item) => {
    if (typeof item !== 'string') return []
    const [first, last] = [items.indexOf(item), items.lastIndexOf(item)]
    const isWhole = items.slice(first, last + 1).every((other) => other === item)
    const encrypted = fieldOf(parts[last]?.meta?.['openai'], 'reasoningEncryptedContent')
    return [
      ...(isWhole ? [] : [`I8: ${at}: reasoning ${item} is split`]),
      ...(typeof encrypted === 'string' ? [] : [`I8: ${at}: reasoning ${item} has lost its content`]),
    ]
  })
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined
