import type { CatalogueEntry } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'

/** A session's catalogue entry, its owner, and the state of its log. */
export type SessionRow = {
  readonly id: SessionId
  /** Numbers sessions in the order of their creation. */
  readonly order: number
  readonly parent: SessionId | null
  readonly base: Seq
  head: Seq
  /** The acknowledged length of its file. */
  bytes: number
  epoch: number
  owner: string | null
  entry: CatalogueEntry
  /** Stored in `trash.json`, not in the catalogue. */
  trashedAt: number | null
  /** True for a purged session: only the records that its forks share are left. */
  isShared: boolean
}

/** Returns the row of a session; null if it does not exist or is purged. */
export function findRow(rows: ReadonlyMap<SessionId, SessionRow>, session: SessionId): SessionRow | null {
  const row = rows.get(session)
  return row === undefined || row.isShared ? null : row
}

/** Returns the rows of all sessions that are not purged. */
export const listRows = (rows: ReadonlyMap<SessionId, SessionRow>): readonly SessionRow[] =>
  [...rows.values()].filter(({ isShared }) => !isShared)

/** Returns a copy of a row's session fields. */
export const toStoredEntry = (row: SessionRow | null) =>
  row === null
    ? null
    : {
        entry: structuredClone(row.entry),
        head: row.head,
        base: row.base,
        owner: row.owner,
        trashedAt: row.trashedAt,
      }
