import { isDeepStrictEqual } from 'node:util'
import { invariant } from '@holdfast/protocol'
import type { HistoryProvider } from '@holdfast/testkit'

type Json = { readonly [key: string]: unknown }

/** Where a service's body holds the history, and where what is told before it. */
const places = {
  anthropic: { history: 'messages', before: ['tools', 'system'] },
  'openai-chat': { history: 'messages', before: ['tools'] },
  'openai-responses': { history: 'input', before: ['tools', 'instructions'] },
  gemini: { history: 'contents', before: ['tools', 'systemInstruction'] },
} as const

/** A body as a cache of the service reads it: what comes before the history, and the history, without the marks that move. */
export type WireHistory = { readonly before: unknown; readonly messages: readonly Json[] }

export function wireHistory(service: HistoryProvider, body: string): WireHistory {
  const { history, before } = places[service]
  const parsed: Json = JSON.parse(body, (key, value) => (key === 'cache_control' ? undefined : value))
  const messages = parsed[history]
  invariant(Array.isArray(messages), `${service} has its history in ${history}`)
  return {
    before: [...before.map((name) => parsed[name]), ...messages.filter(isInstruction)],
    messages: messages.filter((message) => !isInstruction(message)),
  }
}

/** Some services have their instructions at the head of the history. */
const isInstruction = ({ role }: Json): boolean => role === 'system' || role === 'developer'

/** Whether what is told before the history is the same: only then is anything of it found. */
export const isSameBefore = (earlier: WireHistory, later: WireHistory): boolean =>
  isDeepStrictEqual(earlier.before, later.before)

/**
 * Why what was cached of the history of `earlier` is of no use to `later`; null when all of it is. People who speak twice in a row are
 * heard as one, so the last message may have grown, but only at its end.
 */
export function cacheLost(earlier: WireHistory, later: WireHistory): string | null {
  for (const [index, message] of earlier.messages.entries()) {
    const now = later.messages[index]
    if (isDeepStrictEqual(message, now)) continue
    const isLast = index === earlier.messages.length - 1
    if (!(isLast && now !== undefined && hasGrown(message, now)))
      return `message ${index} changed: ${JSON.stringify(message)} is now ${JSON.stringify(now)}`
  }
  return null
}

function hasGrown(earlier: Json, later: Json): boolean {
  const [parts, now] = [partsOf(earlier), partsOf(later)]
  return earlier['role'] === later['role'] && isDeepStrictEqual(parts, now.slice(0, parts.length))
}

/** Words alone may stand without a part around them. */
const partsOf = ({ content, parts = content }: Json): readonly unknown[] =>
  Array.isArray(parts) ? parts : [{ type: 'text', text: parts }]
