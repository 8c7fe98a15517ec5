import { type Content, limits } from '@holdfast/protocol'

/** Splits a text that is too long for one message, if possible at the end of a line. Nothing of it is lost but blank pieces. */
export function splitText(text: string, charsMax: number = limits.importedTextCharsMax): readonly string[] {
  if (text.length <= charsMax) return [text]
  const pieces: string[] = []
  for (let from = 0; from < text.length; ) {
    const to = cutAfter(text, from, charsMax)
    const piece = text.slice(from, to)
    if (piece.trim() !== '') pieces.push(piece)
    from = to
  }
  return pieces
}

function cutAfter(text: string, from: number, charsMax: number): number {
  const end = from + charsMax
  if (end >= text.length) return text.length
  const feed = text.lastIndexOf('\n', end - 1)
  if (feed > from + charsMax / 2) return feed + 1
  const isPair = /[\ud800-\udbff]/.test(text[end - 1] ?? '')
  return isPair ? end - 1 : end
}

/** Splits the content of a prompt, so that the text of each piece is short enough. */
export function splitContent(content: Content, charsMax: number = limits.importedTextCharsMax): readonly Content[] {
  const pieces: Content[number][][] = []
  let left = 0
  for (const part of content)
    for (const text of part.type === 'text' ? splitText(part.text, charsMax) : [null]) {
      const length = text?.length ?? 0
      if (pieces.length === 0 || length > left) {
        pieces.push([])
        left = charsMax
      }
      left -= length
      pieces.at(-1)?.push(part.type === 'text' && text !== null ? { ...part, text } : part)
    }
  return pieces
}
