import { badCursor } from '@holdfast/core/ports'
import { ok, type Result, refuse } from '@holdfast/protocol/result'

/** The position of a record in a store: numbers, compared one after the other. A newer record has a higher position. */
export type SearchPosition = readonly number[]

/** The end of a page. `top` is the newest message of the first page: newer messages do not move the pages. */
export type SearchCursor = { readonly top: SearchPosition; readonly score: number; readonly place: SearchPosition }

/** Positive if `left` is newer. */
export function comparePositions(left: SearchPosition, right: SearchPosition): number {
  for (const [index, number] of left.entries()) {
    const difference = number - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

export const encodeSearchCursor = ({ top, score, place }: SearchCursor): string =>
  `${top.join('-')}.${score}.${place.join('-')}`

export const searchCursorForm = /^([\d-]{1,50})\.(\d{1,9})\.([\d-]{1,50})$/

/** `numbers` is the length of a position in this store. */
export function decodeSearchCursor(cursor: string | undefined, numbers: number): Result<SearchCursor | null> {
  if (cursor === undefined) return ok(null)
  const [, top, score, place] = searchCursorForm.exec(cursor) ?? []
  if (top === undefined || score === undefined || place === undefined) return refuse(badCursor(cursor))
  const decoded = { top: parsePosition(top), score: Number(score), place: parsePosition(place) }
  const isValid = [decoded.top, decoded.place].every((one) => one.length === numbers && one.every(Number.isSafeInteger))
  return isValid ? ok(decoded) : refuse(badCursor(cursor))
}

const parsePosition = (text: string): SearchPosition =>
  text.split('-').map((number) => (number === '' ? Number.NaN : Number(number)))
