import { clip } from '@holdfast/protocol/text-of'
import type { Query } from './query.ts'
import { fold } from './words.ts'

/** Only the beginning counts: a thousand messages must be scored in a few milliseconds. */
const scoredCharsMax = 4096
const occurrencesMax = 12
/** The length of an average message. */
const averageChars = 1000
const adjacentBonus = 400

/**
 * Returns how well a text matches, as an integer. Each further occurrence adds less than the one before, and less in a
 * long text. Terms that stand side by side, as in the query, get a bonus.
 */
export function scoreOf(text: string, query: Query): number {
  const folded = fold(clip(text, scoredCharsMax))
  const lengthFactor = 1.2 * (0.25 + (0.75 * folded.length) / averageChars)
  let score = 0
  for (const { written } of query) {
    const count = countOf(folded, written)
    score += (1000 * count) / (count + lengthFactor)
  }
  if (query.length > 1 && folded.includes(query.map(({ written }) => written).join(' '))) score += adjacentBonus
  return Math.round(score)
}

function countOf(text: string, written: string): number {
  let count = 0
  for (
    let at = text.indexOf(written);
    at >= 0 && count < occurrencesMax;
    at = text.indexOf(written, at + written.length)
  ) {
    if (!isWithinWord(text, at)) count += 1
  }
  return count
}

/** Returns whether the word at this position began before it. */
function isWithinWord(text: string, at: number): boolean {
  return isWordChar(text.charCodeAt(at - 1)) && isWordChar(text.charCodeAt(at))
}

const isWordChar = (unit: number): boolean => (unit >= 97 && unit <= 122) || (unit >= 48 && unit <= 57) || unit === 95
