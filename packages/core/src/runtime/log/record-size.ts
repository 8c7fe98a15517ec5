/** Any value costs at least this much in JSON: a comma, and quotes or digits. */
const valueChars = 5
/** No number in JSON is longer. */
const numberChars = 25
/** JSON writes a control character as six. */
const charsPerUnitMax = 6

/**
 * Estimates how long a value is as JSON without encoding it: a text costs one step, however long it is. Stops once the
 * estimate exceeds `max`.
 */
export function estimateChars(value: unknown, max = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return value.length + valueChars
  if (typeof value !== 'object' || value === null) return valueChars
  let chars = valueChars
  for (const name of Object.keys(value)) {
    if (chars > max) break
    chars += name.length + estimateChars((value as { readonly [name: string]: unknown })[name], max - chars)
  }
  return chars
}

/** JSON writes these characters as six. */
const longEscape = /[\0-\x07\x0b\x0e-\x1f\ud800-\udfff]/u

/**
 * Returns a number of bytes that a value does not exceed as JSON: at most twice as many as it has, for ordinary text. Stops
 * once it exceeds `max`.
 */
export function jsonBytesAtMost(value: unknown, max = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string')
    return 2 + (longEscape.test(value) ? value.length * charsPerUnitMax : 2 * Buffer.byteLength(value))
  if (typeof value !== 'object' || value === null) return numberChars
  let bytes = 2
  for (const name of Object.keys(value)) {
    if (bytes > max) break
    const inner = (value as { readonly [name: string]: unknown })[name]
    bytes += jsonBytesAtMost(name) + 2 + jsonBytesAtMost(inner, max - bytes)
  }
  return bytes
}

/** Returns whether the JSON of these values is certainly shorter than `charsMax`. Takes steps only up to that length. */
export function isShorterThan(values: Iterable<unknown>, charsMax: number): boolean {
  const max = charsMax / charsPerUnitMax
  let chars = 0
  for (const value of values) {
    if (chars >= max) return false
    chars += estimateChars(value, max - chars)
  }
  return chars < max
}
