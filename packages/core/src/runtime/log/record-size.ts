/** Any value costs at least this much in JSON: a comma, and quotes or digits. */
const valueChars = 5
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
