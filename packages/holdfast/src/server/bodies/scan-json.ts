import { type Fault, fault, limits } from '@holdfast/protocol'

/** How many bytes are scanned before other work comes between. */
export const scanSliceBytes = 1024 * 1024

const code = (char: string): number => char.charCodeAt(0)
const [quote, backslash, letterU, colon] = [code('"'), code('\\'), code('u'), code(':')]
const [openList, closeList, openObject, closeObject] = [code('['), code(']'), code('{'), code('}')]
const separators: ReadonlySet<number> = new Set([...' \t\r\n,'].map(code))

/**
 * Checks the structure of JSON before it is parsed: its depth, its number of values and keys, and its surrogates. Parsing
 * and validating cost time and memory for each value, not for each byte. Yields after each slice. Does not check the
 * syntax. Refused: too_large, bad_request.
 */
export function* scanJson(bytes: Uint8Array): Generator<void, Fault | null> {
  /** The number of keys of each open object; lists have none. */
  const keys: number[] = []
  let values = 0
  let isInString = false
  let isInScalar = false
  let sliceEnd = scanSliceBytes
  for (let at = 0; at < bytes.length; at++) {
    if (at >= sliceEnd) {
      yield
      sliceEnd = at + scanSliceBytes
    }
    const byte = bytes[at] ?? 0
    if (isInString) {
      if (byte === quote) isInString = false
      if (byte !== backslash) continue
      const length = escapeLength(bytes, at)
      if (length === null) return fault('bad_request', 'The request body has an unpaired surrogate.')
      at += length - 1
      continue
    }
    const isNew = !isInScalar
    isInScalar = false
    if (byte === quote) {
      isInString = true
      values += 1
    } else if (byte === openList || byte === openObject) {
      keys.push(0)
      values += 1
      if (keys.length > limits.jsonDepthMax) return tooDeep
    } else if (byte === closeList || byte === closeObject) keys.pop()
    else if (byte === colon) {
      const count = (keys.pop() ?? 0) + 1
      keys.push(count)
      if (count > limits.jsonKeysMax) return tooManyKeys
    } else if (!separators.has(byte)) {
      isInScalar = true
      if (isNew) values += 1
    }
    if (values > limits.jsonValuesMax) return tooManyValues
  }
  return null
}

const tooDeep = fault('bad_request', `The request body is nested deeper than ${limits.jsonDepthMax} levels.`)
const tooManyKeys = fault('too_large', `An object in the request body has more than ${limits.jsonKeysMax} keys.`, {
  limit: 'jsonKeysMax',
  keysMax: limits.jsonKeysMax,
})
const tooManyValues = fault('too_large', `The request body has more than ${limits.jsonValuesMax} keys and values.`, {
  limit: 'jsonValuesMax',
  valuesMax: limits.jsonValuesMax,
})

/** Returns the length of an escape; a surrogate pair is one. Null for an unpaired surrogate: UTF-8 cannot store it. */
function escapeLength(bytes: Uint8Array, at: number): number | null {
  const half = surrogateAt(bytes, at)
  if (half === null) return 2
  return half === 'high' && surrogateAt(bytes, at + 6) === 'low' ? 12 : null
}

/** Returns which half of a pair the escape `\uXXXX` at `at` is; null if it is neither. */
function surrogateAt(bytes: Uint8Array, at: number): 'high' | 'low' | null {
  if (bytes[at] !== backslash || bytes[at + 1] !== letterU) return null
  const digits = String.fromCharCode(bytes[at + 2] ?? 0, bytes[at + 3] ?? 0)
  if (/^d[89ab]$/i.test(digits)) return 'high'
  return /^d[c-f]$/i.test(digits) ? 'low' : null
}
