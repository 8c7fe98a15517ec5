import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { BlobHash, SessionId } from '@holdfast/protocol'
import { checkRecord, readSession, recordColumns, selectSession } from '../rows/columns.ts'
import type { FollowedSession, ReadRequests } from '../rows/requests.ts'
import { removalsName, trashingsName } from '../rows/schema.ts'

type Following = Pick<ReadRequests, 'follow' | 'followedSessions' | 'trashed' | 'blobUse'>

/** Reads the log across sessions, in the order of commits. */
export function createFollowReader(database: DatabaseSync): Following {
  // Prepared on first use: a store of version 1 may lack the table.
  let cursor: StatementSync | null = null
  const after = database.prepare(`select pos, sid, ${recordColumns} from record where pos > ? order by pos limit ?`)
  const bySid = database.prepare(`${selectSession} where session.sid = ?`)
  const allAfter = database.prepare(`${selectSession} where session.sid > ? order by session.sid limit ?`)
  const blobs = database.prepare(`
    select distinct hash from blob_use where sid = (select sid from session where id = ?) and seq > ?`)
  const trashed = database.prepare(`
    select id, trashed_at from session where trashed_at is not null and purged_at is null order by trashed_at`)
  const posOf = (name: string): number => {
    cursor ??= database.prepare('select pos from cursor where name = ?')
    return Number(cursor.get(name)?.['pos'] ?? 0)
  }

  return {
    follow(name, limit) {
      const from = posOf(name)
      const found = new Map<number, FollowedSession>()
      const rows = after.all(from, limit)
      const records = rows.flatMap((row) => {
        const sid = Number(row['sid'])
        const stored = found.has(sid) ? undefined : bySid.get(sid)
        if (stored !== undefined) found.set(sid, readSession(stored))
        const session = found.get(sid)?.id
        return session === undefined ? [] : [{ session, record: checkRecord(session, row) }]
      })
      const [removals, trashings] = [posOf(removalsName), posOf(trashingsName)]
      return { records, sessions: [...found.values()], pos: Number(rows.at(-1)?.['pos'] ?? from), removals, trashings }
    },
    followedSessions: (order, limit) => allAfter.all(order, limit).map(readSession),
    trashed: () =>
      trashed.all().map((row) => ({ session: String(row['id']) as SessionId, at: Number(row['trashed_at']) })),
    blobUse: (session, seq) => blobs.all(session, seq).map((row) => String(row['hash']) as BlobHash), // a hash
  }
}
