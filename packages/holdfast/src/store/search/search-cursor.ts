import { type Fault, fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'

/** Where a record stands among all of a store, newest last: numbers, compared one after the other. */
export type SearchPosition = readonly number[]

/** Where a page ended. `top` was the newest message when the search began: what came since does not move the pages. */
export type SearchCursor = { readonly top: SearchPosition; readonly score: number; readonly place: SearchPosition }

/** Positive where `left` is newer. */
export function comparePlaces(left: SearchPosition, right: SearchPosition): number {
  for (const [index, number] of left.entries()) {
    const difference = number - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

export const encodeSearchCursor = ({ top, score, place }: SearchCursor): string =>
  `${top.join('-')}.${score}.${place.join('-')}`

export const searchCursorForm = /^([\d-]{1,50})\.(\d{1,9})\.([\d-]{1,50})$/

/** `numbers` is how many a place of this store has. */
export function decodeSearchCursor(cursor: string | undefined, numbers: number): Result<SearchCursor | null> {
  if (cursor === undefined) return ok(null)
  const [, top, score, place] = searchCursorForm.exec(cursor) ?? []
  if (top === undefined || score === undefined || place === undefined) return refuse(badSearchCursor(cursor))
  const read = { top: placeOf(top), score: Number(score), place: placeOf(place) }
  const isOurs = [read.top, read.place].every((one) => one.length === numbers && one.every(Number.isSafeInteger))
  return isOurs ? ok(read) : refuse(badSearchCursor(cursor))
}

const placeOf = (text: string): SearchPosition =>
  text.split('-').map((number) => (number === '' ? Number.NaN : Number(number)))

export const badSearchCursor = (cursor: string): Fault =>
  fault('bad_request', 'The cursor is not one that a search gave out.', { cursor })
