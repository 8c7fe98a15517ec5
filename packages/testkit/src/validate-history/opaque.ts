import type { AssistantPart, ModelRequest } from '@holdfast/core/ports'
import { providerOf } from '@holdfast/protocol'
import { metaNames, type ProviderRules } from './providers.ts'

/** I8 and I9: what a service gave to be given back is whole and bound to what it belongs to, and no other's is sent. */
export const opaqueOf = (request: ModelRequest, particulars: ProviderRules): readonly string[] =>
  request.messages.flatMap((message, index) => {
    if (message.role !== 'assistant') return []
    const at = (part: number) => `messages.${index}.content.${part}`
    const isOwn = particulars.metaName !== null && providerOf(request.model) === particulars.metaName
    return [
      ...message.content.flatMap((part, n) => [
        ...foreign(part, particulars, at(n)),
        ...broken(part, particulars, at(n), isOwn),
      ]),
      ...loose(message.content, particulars, `messages.${index}`),
      ...(particulars.metaName === 'openai' ? itemsOf(message.content, `messages.${index}`) : []),
    ]
  })

const foreign = ({ meta = {} }: AssistantPart, { metaName }: ProviderRules, at: string): readonly string[] =>
  metaNames
    .filter((name) => name !== metaName && name in meta)
    .map((name) => `I9: ${at}: data of ${name} would be sent to another service`)

function broken(part: AssistantPart, { metaName }: ProviderRules, at: string, isOwn: boolean): readonly string[] {
  const own = metaName === null ? undefined : part.meta?.[metaName]
  const has = (name: string) => typeof fieldOf(own, name) === 'string' && fieldOf(own, name) !== ''
  if (own === undefined) {
    // A service that signs what it thinks signs all of it; one that does not is not held to it here.
    const isLost = isOwn && metaName !== 'google' && part.type === 'thinking'
    return isLost ? [`I8: ${at}: the thinking has lost its signature`] : []
  }
  if (metaName === 'anthropic' && part.type === 'thinking' && !has('signature') && !has('redactedData')) {
    return [`I8: ${at}: the thinking has no signature`]
  }
  if (metaName === 'openai' && part.type === 'thinking' && !has('itemId')) {
    return [`I8: ${at}: the thinking does not say which item it is of`]
  }
  if (metaName === 'google' && fieldOf(own, 'thoughtSignature') !== undefined && !has('thoughtSignature')) {
    return [`I8: ${at}: the signature is none`]
  }
  return []
}

/** Thinking with nothing after it in its answer. */
function loose(parts: readonly AssistantPart[], { thinkingBinds }: ProviderRules, at: string): readonly string[] {
  return thinkingBinds && parts.at(-1)?.type === 'thinking'
    ? [`I8: ${at}: the thinking is sent without what came out of it`]
    : []
}

/** An item of reasoning stands in one piece, and its last part carries what was encrypted. */
function itemsOf(parts: readonly AssistantPart[], at: string): readonly string[] {
  const items = parts.map((part) => (part.type === 'thinking' ? fieldOf(part.meta?.['openai'], 'itemId') : undefined))
  return [...new Set(items)].flatMap((item) => {
    if (typeof item !== 'string') return []
    const [first, last] = [items.indexOf(item), items.lastIndexOf(item)]
    const isWhole = items.slice(first, last + 1).every((other) => other === item)
    const encrypted = fieldOf(parts[last]?.meta?.['openai'], 'reasoningEncryptedContent')
    return [
      ...(isWhole ? [] : [`I8: ${at}: reasoning ${item} is torn apart`]),
      ...(typeof encrypted === 'string' ? [] : [`I8: ${at}: reasoning ${item} has lost its content`]),
    ]
  })
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined
