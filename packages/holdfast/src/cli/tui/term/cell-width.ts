import { eastAsianWidth } from 'get-east-asian-width'

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const simple = /^[\u0020-\u007e]*$/
/** Marks that are drawn over the character before them. */
const combining = /^[\p{Mn}\p{Me}]$/u
const emojiStyle = '\ufe0f'

/** Returns how many columns a text takes. It must have no control characters: see `shownText`. */
export function cellWidth(text: string): number {
  if (simple.test(text)) return text.length
  let width = 0
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment)
  return width
}

/** Splits a text into what a reader sees as characters. */
export function graphemesOf(text: string): readonly string[] {
  if (simple.test(text)) return text.split('')
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** Returns how many columns one grapheme takes: 0, 1 or 2. */
export function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0
  if (code >= 0x20 && code < 0x7f && grapheme.length === 1) return 1
  if (grapheme.length === 1 && combining.test(grapheme)) return 0
  if (grapheme.includes(emojiStyle)) return 2
  if (code >= 0x1f1e6 && code <= 0x1f1ff) return grapheme.length > 2 ? 2 : 1 // a flag is two letters
  return eastAsianWidth(code)
}

/** Returns the longest start of a text that fits into `width` columns. */
export function cutCells(text: string, width: number): string {
  if (simple.test(text)) return text.slice(0, Math.max(0, width))
  let used = 0
  let end = 0
  for (const { segment, index } of segmenter.segment(text)) {
    used += graphemeWidth(segment)
    if (used > width) return text.slice(0, index)
    end = index + segment.length
  }
  return text.slice(0, end)
}

/** Returns the longest end of a text that fits into `width` columns. */
export function cutCellsAtStart(text: string, width: number): string {
  const all = graphemesOf(text)
  let used = 0
  let from = all.length
  while (from > 0 && used + graphemeWidth(all[from - 1] ?? '') <= width) {
    from--
    used += graphemeWidth(all[from] ?? '')
  }
  return all.slice(from).join('')
}
