/** Any value costs at least this much in JSON: a comma, and quotes or digits. */
const valueChars = 5
/** JSON writes a control character as six. */
const charsPerUnitMax = 6

/** Estimates how long a value is as JSON without encoding it: a text costs one step, however long it is. */
export function estimateChars(value: unknown): number {
  if (typeof value === 'string') return value.length + valueChars
  if (typeof value !== 'object' || value === null) return valueChars
  let chars = valueChars
  for (const [name, inner] of Object.entries(value)) chars += name.length + estimateChars(inner)
  return chars
}

/** Returns a length that the JSON of such a value cannot exceed. */
export const charsAtMost = (estimated: number): number => estimated * charsPerUnitMax
