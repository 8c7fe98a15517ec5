import { type Fault, fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'

/** A position in a list: pinned sessions first, then the latest activity, then the newest. The trash ignores pins. */
export type ListCursor = {
  /** 1 for a pinned session; always 0 in the trash. */
  readonly pinned: 0 | 1
  /** The last activity; in the trash, when it was put there. */
  readonly at: number
  /** The order of creation, if all else is equal. */
  readonly order: number
}

const firstPosition: ListCursor = { pinned: 1, at: Number.MAX_SAFE_INTEGER, order: Number.MAX_SAFE_INTEGER }

/** Negative if `left` is listed before `right`. */
export const compareListPlaces = (left: ListCursor, right: ListCursor): number =>
  right.pinned - left.pinned || right.at - left.at || right.order - left.order

/** Returns a position as the text that a client sends back. */
export const encodeListCursor = ({ pinned, at, order }: ListCursor): string => `${pinned}.${at}.${order}`

/** Reads the text of a cursor; without one, returns the position before the first row. Refused: bad_request. */
export function decodeListCursor(cursor: string | undefined): Result<ListCursor> {
  if (cursor === undefined) return ok(firstPosition)
  const [, pinned, at, order] = /^([01])\.(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? []
  if (pinned === undefined || at === undefined || order === undefined) return refuse(badCursor(cursor))
  return ok({ pinned: pinned === '1' ? 1 : 0, at: Number(at), order: Number(order) })
}

/** The fault of an invalid cursor of a list or a search. */
export const badCursor = (cursor: string): Fault =>
  fault('bad_request', 'The cursor is invalid. Use the cursor that the last page returned.', { cursor })
