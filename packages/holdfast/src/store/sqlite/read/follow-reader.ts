import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { BlobHash, SessionId } from '@holdfast/protocol'
import { readEntry } from '../rows/decode.ts'
import type { FollowedSession, Questions } from '../rows/messages.ts'
import { checkRecord } from '../rows/record-reader.ts'
import { removalsName, trashingsName } from '../rows/schema.ts'

type Row = Record<string, unknown>

type Following = Pick<Questions, 'follow' | 'followedSessions' | 'trashed' | 'blobUse'>

const sessionColumns = `
  select session.sid, session.id, parent.id as parent, session.base, session.head, session.purged_at, session.meta,
    session.active_at, session.spoken, session.busy
  from session left join session parent on parent.sid = session.parent`

/** Reads the log across sessions, in the order of commits. */
export function createFollowReader(database: DatabaseSync): Following {
  // Prepared on first use: a store of version 1 may lack the table.
  let cursor: StatementSync | null = null
  const after = database.prepare(`
    select pos, sid, seq, at, type, v, client, command_id, ref, crc, body from record where pos > ? order by pos limit ?`)
  const bySid = database.prepare(`${sessionColumns} where session.sid = ?`)
  const allAfter = database.prepare(`${sessionColumns} where session.sid > ? order by session.sid limit ?`)
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
      const sessions = new Map<number, FollowedSession>()
      const rows = after.all(from, limit)
      const records = rows.flatMap((row) => {
        const sid = Number(row['sid'])
        const found = sessions.get(sid) ?? sessionOf(bySid.get(sid))
        if (found === null) return []
        sessions.set(sid, found)
        return [{ session: found.session, record: checkRecord(found.session, row) }]
      })
      const pos = Number(rows.at(-1)?.['pos'] ?? from)
      return {
        records,
        sessions: [...sessions.values()],
        pos,
        removals: posOf(removalsName),
        trashings: posOf(trashingsName),
      }
    },
    followedSessions: (order, limit) => allAfter.all(order, limit).flatMap((row) => sessionOf(row) ?? []),
    trashed: () =>
      trashed.all().map((row) => ({ session: String(row['id']) as SessionId, at: Number(row['trashed_at']) })), // as below
    blobUse: (session, seq) => blobs.all(session, seq).map((row) => String(row['hash']) as BlobHash), // as below
  }
}

function sessionOf(row: Row | undefined): FollowedSession | null {
  if (row === undefined) return null
  return {
    order: Number(row['sid']),
    session: String(row['id']) as SessionId, // the column holds nothing else
    parent: row['parent'] === null ? null : (String(row['parent']) as SessionId), // as above
    base: Number(row['base']),
    head: Number(row['head']),
    isPurged: row['purged_at'] !== null,
    entry: readEntry(row),
  }
}
