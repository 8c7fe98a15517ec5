import { clip } from '@holdfast/protocol/text-of'
import type { Query } from './query.ts'
import { fold } from './words.ts'

/** A message is judged by its beginning: a thousand of them must be judged within a few milliseconds. */
const judgedCharsMax = 4096
const countedMax = 12
/** A message of this length is neither short nor long. */
const usualChars = 1000
const together = 400

/**
 * How well a text fits, as a whole number: more occurrences are better, each less than the one before, and the longer
 * the text, the less they say. Words side by side, as they were asked for, are better still.
 */
export function scoreOf(text: string, query: Query): number {
  const folded = fold(clip(text, judgedCharsMax))
  const lengthFactor = 1.2 * (0.25 + (0.75 * folded.length) / usualChars)
  let score = 0
  for (const { written } of query) {
    const count = countOf(folded, written)
    score += (1000 * count) / (count + lengthFactor)
  }
  if (query.length > 1 && folded.includes(query.map(({ written }) => written).join(' '))) score += together
  return Math.round(score)
}

function countOf(text: string, written: string): number {
  let count = 0
  for (let at = text.indexOf(written); at >= 0 && count < countedMax; at = text.indexOf(written, at + written.length)) {
    if (!isWithinWord(text, at)) count += 1
  }
  return count
}

/** Whether a plain word goes on to the left of this place. */
function isWithinWord(text: string, at: number): boolean {
  return isPlain(text.charCodeAt(at - 1)) && isPlain(text.charCodeAt(at))
}

const isPlain = (unit: number): boolean => (unit >= 97 && unit <= 122) || (unit >= 48 && unit <= 57) || unit === 95
