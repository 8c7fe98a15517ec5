import { TypeValidationError } from '@ai-sdk/provider'

type Fields = { readonly [name: string]: unknown }

/** Anthropic's required events: one of them in another format is an error. */
const knownEvents = /^(message_start|message_delta|message_stop|content_block_stop|ping|error)$/
const knownBlocks: readonly unknown[] = ['text', 'thinking', 'redacted_thinking', 'tool_use']
const knownDeltas: readonly unknown[] = ['text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta']

/**
 * Returns an event of an unknown type from the error that Anthropic's library throws for it. The library continues with
 * the next event, so we can too. Null for any other error.
 */
export function findUnknownPart(error: unknown): Fields | null {
  if (!TypeValidationError.isInstance(error) || !isObject(error.value)) return null
  const { type, content_block: block, delta, error: own, object } = error.value
  if (typeof type !== 'string' || own !== undefined || object !== undefined || knownEvents.test(type)) return null
  if (type.startsWith('response.')) return null // OpenAI's library ignores unknown events, so this one has a wrong format
  if (type === 'content_block_start') return hasType(block, knownBlocks) ? null : error.value
  if (type === 'content_block_delta') return hasType(delta, knownDeltas) ? null : error.value
  return error.value
}

const hasType = (value: unknown, types: readonly unknown[]): boolean =>
  !isObject(value) || types.includes(value['type'])

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null
