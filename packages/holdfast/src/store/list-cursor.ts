import type { Listed, ListPage, ListRequest, Store } from '@holdfast/core/ports'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'

/** Where a page of the list ended: activity first, birth where two are equal. */
export type ListCursor = { readonly activeAt: number; readonly order: number }

/** A row with its place in the list, by which two lists can be made one. */
export type PlacedListed = Listed & { readonly place: ListCursor }
export type PlacedPage = ListPage & { readonly sessions: readonly PlacedListed[] }

/** A store that also tells where in its list each session stands. */
export interface PlacedStore extends Store {
  list(request: ListRequest): Promise<PlacedPage>
}

const fromTheTop: ListCursor = { activeAt: Number.MAX_SAFE_INTEGER, order: Number.MAX_SAFE_INTEGER }

export const encodeListCursor = ({ activeAt, order }: ListCursor): string => `${activeAt}.${order}`

export function decodeListCursor(cursor: string | undefined): Result<ListCursor> {
  if (cursor === undefined) return ok(fromTheTop)
  const [, activeAt, order] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? []
  if (activeAt === undefined || order === undefined) return refuse(badCursor(cursor))
  return ok({ activeAt: Number(activeAt), order: Number(order) })
}

const badCursor = (cursor: string): Fault =>
  fault('bad_request', 'The cursor is not one that a list gave out.', { cursor })
