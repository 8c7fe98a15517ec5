import type { DatabaseSync } from 'node:sqlite'
import { lastRecordOf, lastSessionOf, runOnReadableRows, unlessDamaged } from './skip-damaged-pages.ts'

type Row = Record<string, unknown>

/** Reads rows that a damaged index no longer finds: by row number, without the damaged pages. */
export interface DamagedReader {
  /** Returns the sid of a session without the index of ids. */
  findSid(session: string): number | null
  /** Returns a record without the index of seqs, or null if it is missing or unreadable. */
  findRecord(sid: number, seq: number): Row | null
}

/** Reads through the tables on the first question, once: only a damaged store needs it. */
export function createDamagedReader(database: DatabaseSync, selectRecord: string): DamagedReader {
  let sids: ReadonlyMap<string, number> | null = null
  let positions: ReadonlyMap<number, ReadonlyMap<number, number>> | null = null
  const byPos = database.prepare(`${selectRecord} where pos = ?`)

  return {
    findSid(session) {
      sids ??= readSids(database)
      return sids.get(session) ?? null
    },
    findRecord(sid, seq) {
      positions ??= readPositions(database)
      const pos = positions.get(sid)?.get(seq)
      return pos === undefined ? null : unlessDamaged(null, () => byPos.get(pos) ?? null)
    },
  }
}

function readSids(database: DatabaseSync): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  const rows = database.prepare('select sid, id from session not indexed where sid between ? and ?')
  runOnReadableRows(1, lastSessionOf(database), (from, upTo) => {
    for (const row of rows.all(from, upTo)) found.set(String(row['id']), Number(row['sid']))
  })
  return found
}

/** Returns the position of each record, by session and seq. */
function readPositions(database: DatabaseSync): ReadonlyMap<number, ReadonlyMap<number, number>> {
  const found = new Map<number, Map<number, number>>()
  const rows = database.prepare('select pos, sid, seq from record not indexed where pos between ? and ?')
  runOnReadableRows(1, lastRecordOf(database), (from, upTo) => {
    for (const row of rows.all(from, upTo)) {
      const sid = Number(row['sid'])
      const seqs = found.get(sid) ?? new Map<number, number>()
      found.set(sid, seqs.set(Number(row['seq']), Number(row['pos'])))
    }
  })
  return found
}
