/** The longest piece of an export, in characters: what one slice writes. */
export const pieceCharsMax = 64 * 1024

/** Cuts a text into pieces that can be encoded one by one: no cut is inside a character. */
export function* cutPieces(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = from + pieceCharsMax
    const to = end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end
    yield from === 0 && to >= text.length ? text : text.slice(from, to)
    from = to
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
