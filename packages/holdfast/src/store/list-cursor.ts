import type { Fault, Result } from '@holdfast/protocol'

/** Where a page of the list ended: activity first, birth where two are equal. */
export type ListCursor = { readonly activeAt: number; readonly order: number }

const fromTheTop: ListCursor = { activeAt: Number.MAX_SAFE_INTEGER, order: Number.MAX_SAFE_INTEGER }

export const encodeListCursor = ({ activeAt, order }: ListCursor): string => `${activeAt}.${order}`

export function decodeListCursor(cursor: string | undefined): Result<ListCursor> {
  if (cursor === undefined) return { ok: true, value: fromTheTop }
  const [, activeAt, order] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? []
  if (activeAt === undefined || order === undefined) return { ok: false, fault: badCursor(cursor) }
  return { ok: true, value: { activeAt: Number(activeAt), order: Number(order) } }
}

const badCursor = (cursor: string): Fault => ({
  code: 'bad_request',
  message: 'The cursor is not one that a list gave out.',
  details: { cursor },
})
