/** Whether a text matches a pattern in which `*` matches any text. Runs in one pass. */
export const fitsText = (pattern: string, text: string): boolean => fitsPieces(pattern.split('*'), text)

/** Whether a text has these pieces in this order, with any text between them. A single piece is the whole text. */
export function fitsPieces([first = '', ...rest]: readonly string[], text: string): boolean {
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let from = first.length
  const end = text.length - last.length
  for (const piece of rest) {
    const at = text.indexOf(piece, from)
    if (at < 0 || at + piece.length > end) return false
    from = at + piece.length
  }
  return true
}
