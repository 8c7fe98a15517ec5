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

/**
 * Whether a text has these pieces from one of some places to its end. Runs in one pass: the pieces between are found from
 * the end, so that each place compares only the first piece.
 */
export function fitsPiecesFrom(
  [first = '', ...rest]: readonly string[],
  text: string,
  places: readonly number[],
): boolean {
  const last = rest.pop()
  if (last === undefined) return text.endsWith(first) && places.includes(text.length - first.length)
  if (!text.endsWith(last)) return false
  let end = text.length - last.length
  for (const piece of rest.toReversed()) {
    end = end < piece.length ? -1 : text.lastIndexOf(piece, end - piece.length)
    if (end < 0) return false
  }
  return places.some((place) => place + first.length <= end && text.startsWith(first, place))
}
