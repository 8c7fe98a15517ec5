import { TypeValidationError } from '@ai-sdk/provider'

type Fields = { readonly [name: string]: unknown }

/** The events of Anthropic's that an answer cannot do without: one of them in another form is no answer. */
const knownEvents: ReadonlySet<unknown> = new Set([
  'message_start',
  'message_delta',
  'message_stop',
  'content_block_stop',
  'ping',
  'error',
])
const knownBlocks: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use'])
const knownDeltas: ReadonlySet<unknown> = new Set([
  'text_delta',
  'thinking_delta',
  'signature_delta',
  'input_json_delta',
])

/**
 * What came that nobody has heard of, out of the error that Anthropic's library makes of it; it then goes on with what
 * comes next, and so may we. Null for any other error.
 */
export function unknownPartOf(error: unknown): Fields | null {
  if (!TypeValidationError.isInstance(error) || !isObject(error.value)) return null
  const { type, content_block: block, delta, error: own, object } = error.value
  if (typeof type !== 'string' || own !== undefined || object !== undefined || knownEvents.has(type)) return null
  if (type.startsWith('response.')) return null // OpenAI's library lets unknown events pass: this one has a wrong form
  if (type === 'content_block_start') return isOf(block, knownBlocks) ? null : error.value
  if (type === 'content_block_delta') return isOf(delta, knownDeltas) ? null : error.value
  return error.value
}

const isOf = (value: unknown, types: ReadonlySet<unknown>): boolean => !isObject(value) || types.has(value['type'])

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null
