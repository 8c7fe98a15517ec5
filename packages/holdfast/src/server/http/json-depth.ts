/**
 * Whether a JSON text nests deeper than `max`. Looked at before parsing: the parser takes any depth, but what it makes
 * of a very deep text cannot be written down again.
 */
export function isDeeperThan(text: string, max: number): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (isInString) {
      if (char === '\\') at++
      else if (char === '"') isInString = false
    } else if (char === '"') isInString = true
    else if (char === '[' || char === '{') {
      depth++
      if (depth > max) return true
    } else if (char === ']' || char === '}') depth--
  }
  return false
}
