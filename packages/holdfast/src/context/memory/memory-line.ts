import { escapeHidden } from '@holdfast/protocol'

const breaks = /[\n\v\f\r\u0085\u2028\u2029]+/
// Letters of some scripts and many emoji hang together by these two; anything else unseen could speak to a model alone.
const apartFromJoiners = /[^\u200c\u200d]+/g

/** A note as one line of a list: it can neither end the line nor hold what an eye would miss. */
export function memoryLine(text: string, when: string): string {
  const pieces = text.split(breaks).map((piece) => piece.trim())
  const folded = pieces.filter((piece) => piece !== '').join(' ')
  return `- [${when}] ${folded.replaceAll('\t', ' ').replace(apartFromJoiners, escapeHidden)}\n`
}

/** To the minute, as in `2026-03-04 12:00 UTC`. */
export const minuteOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
