/**
 * The beginning of a JSON document that was cut, closed where its last whole value ends; null when there is none.
 * Strings are followed, so that a bracket inside one closes nothing.
 */
export function repairJson(text: string): unknown {
  const open: string[] = []
  let best: { readonly end: number; readonly closing: string } | null = null
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (isInString) {
      if (char === '\\') at++
      else if (char === '"') isInString = false
    } else if (char === '"') isInString = true
    else if (char === '{' || char === '[') open.push(char === '{' ? '}' : ']')
    else if (char === '}' || char === ']') {
      if (open.pop() !== char) break
      if (open.length > 0 && open.length < depthMax) best = { end: at + 1, closing: open.toReversed().join('') }
    } else if (char === '\0') break
  }
  if (best === null) return null
  try {
    return JSON.parse(text.slice(0, best.end) + best.closing)
  } catch {
    return null
  }
}

/** What lies deeper is part of a message, and a message is whole or not there. */
const depthMax = 3
