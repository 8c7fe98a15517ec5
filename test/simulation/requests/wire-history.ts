import { isDeepStrictEqual } from 'node:util'
import { invariant } from '@holdfast/protocol'
import type { HistoryProvider } from '@holdfast/testkit'

type Json = { readonly [key: string]: unknown }

/** The fields of a service's body with the history, and with everything before it. */
const fields = {
  anthropic: { history: 'messages', before: ['tools', 'system'] },
  'openai-chat': { history: 'messages', before: ['tools'] },
  'openai-responses': { history: 'input', before: ['tools', 'instructions'] },
  gemini: { history: 'contents', before: ['tools', 'systemInstruction'] },
} as const

/** Returns a body as a cache reads it: the part before the history, and the history, without cache marks. */
export type WireHistory = { readonly before: unknown; readonly messages: readonly Json[] }

export function wireHistory(service: HistoryProvider, body: string): WireHistory {
  const { history, before } = fields[service]
  const parsed: Json = JSON.parse(body, (key, value) => (key === 'cache_control' ? undefined : value))
  const messages = parsed[history]
  invariant(Array.isArray(messages), `${service} has its history in ${history}`)
  return {
    before: [...before.map((name) => parsed[name]), ...messages.filter(isInstruction)],
    messages: messages.filter((message) => !isInstruction(message)),
  }
}

/** Some services have their instructions at the start of the history. */
const isInstruction = ({ role }: Json): boolean => role === 'system' || role === 'developer'

/** Returns whether the part before the history is the same, which a cache requires. */
export const isSameBefore = (earlier: WireHistory, later: WireHistory): boolean =>
  isDeepStrictEqual(earlier.before, later.before)

/**
 * Returns why the cached history of `earlier` cannot be used for `later`, or null. Adjacent user messages are merged, so
 * the last message may be longer, but only at its end.
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

/** A text may be a plain string instead of a part. */
const partsOf = ({ content, parts = content }: Json): readonly unknown[] =>
  Array.isArray(parts) ? parts : [{ type: 'text', text: parts }]
