import type { DatabaseSync } from 'node:sqlite'
import { lastRecordOf, lastSessionOf, skipDamagedPages, unlessDamaged } from './skip-damaged-pages.ts'

type Row = Record<string, unknown>

/** Reads what an index does not lead to any more: by row numbers, past pages that are damaged. */
export interface DamagedReader {
  /** The number of a session, whatever became of the index of ids. */
  sidOf(session: string): number | null
  /** A record, whatever became of the index of seqs; null where none is, or none that can be read. */
  record(sid: number, seq: number): Row | null
}

/** Looks through the tables when first asked, once: only where something is damaged does anyone ask. */
export function createDamagedReader(database: DatabaseSync, recordRows: string): DamagedReader {
  let sids: ReadonlyMap<string, number> | null = null
  let places: ReadonlyMap<number, ReadonlyMap<number, number>> | null = null
  const byPos = database.prepare(`${recordRows} where pos = ?`)

  return {
    sidOf(session) {
      sids ??= sidsIn(database)
      return sids.get(session) ?? null
    },
    record(sid, seq) {
      places ??= placesIn(database)
      const pos = places.get(sid)?.get(seq)
      if (pos === undefined) return null
      return unlessDamaged(
        () => byPos.get(pos),
        () => null,
      )
    },
  }
}

function sidsIn(database: DatabaseSync): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  const rows = database.prepare('select sid, id from session not indexed where sid between ? and ?')
  skipDamagedPages(1, lastSessionOf(database), (from, upTo) => {
    for (const row of rows.all(from, upTo)) found.set(String(row['id']), Number(row['sid']))
  })
  return found
}

/** Where each record of a session lies. */
function placesIn(database: DatabaseSync): ReadonlyMap<number, ReadonlyMap<number, number>> {
  const found = new Map<number, Map<number, number>>()
  const rows = database.prepare('select pos, sid, seq from record not indexed where pos between ? and ?')
  skipDamagedPages(1, lastRecordOf(database), (from, upTo) => {
    for (const row of rows.all(from, upTo)) {
      const sid = Number(row['sid'])
      const seqs = found.get(sid) ?? new Map<number, number>()
      found.set(sid, seqs.set(Number(row['seq']), Number(row['pos'])))
    }
  })
  return found
}
