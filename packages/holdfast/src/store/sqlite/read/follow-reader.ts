import type { DatabaseSync } from 'node:sqlite'
import type { SessionId } from '@holdfast/protocol'
import type { FollowedSession, FollowPage, Trashed } from '../rows/messages.ts'
import { checked } from '../rows/record-reader.ts'
import { removalsName, trashingsName } from '../rows/schema.ts'

type Row = Record<string, unknown>

/**
 * Reads the log across sessions, in the order it was committed. Prepared when first asked: a store that was never opened
 * to write since it was made may lack the table.
 */
export function createFollowReader(database: DatabaseSync) {
  let prepared: ReturnType<typeof prepare> | null = null
  return () => {
    prepared ??= prepare(database)
    return prepared
  }
}

const sessionColumns = `
  select session.sid, session.id, parent.id as parent, session.base, session.head, session.purged_at, session.meta,
    session.workspace, session.active_at, session.spoken, session.busy, session.pinned
  from session left join session parent on parent.sid = session.parent`

function prepare(database: DatabaseSync) {
  const cursor = database.prepare('select pos from cursor where name = ?')
  const after = database.prepare(`
    select pos, sid, seq, at, type, v, client, command_id, ref, crc, body from record where pos > ? order by pos limit ?`)
  const bySid = database.prepare(`${sessionColumns} where session.sid = ?`)
  const allAfter = database.prepare(`${sessionColumns} where session.sid > ? order by session.sid limit ?`)
  const blobs = database.prepare(`
    select distinct hash from blob_use where sid = (select sid from session where id = ?) and seq > ?`)
  const trashed = database.prepare(`
    select id, trashed_at from session where trashed_at is not null and purged_at is null order by trashed_at`)
  const posOf = (name: string): number => Number(cursor.get(name)?.['pos'] ?? 0)

  return {
    follow(name: string, limit: number): FollowPage {
      const from = posOf(name)
      const sessions = new Map<number, FollowedSession>()
      const rows = after.all(from, limit)
      const records = rows.flatMap((row) => {
        const sid = Number(row['sid'])
        const found = sessions.get(sid) ?? sessionOf(bySid.get(sid))
        if (found === null) return []
        sessions.set(sid, found)
        return [{ session: found.session, record: checked(found.session, row) }]
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
    followed: (order: number, limit: number): readonly FollowedSession[] =>
      allAfter.all(order, limit).flatMap((row) => sessionOf(row) ?? []),
    trashed: (): readonly Trashed[] =>
      trashed.all().map((row) => ({ session: String(row['id']) as SessionId, at: Number(row['trashed_at']) })), // as below
    blobUse: (session: string, seq: number): readonly string[] =>
      blobs.all(session, seq).map((row) => String(row['hash'])),
  }
}

function sessionOf(row: Row | undefined): FollowedSession | null {
  if (row === undefined) return null
  return {
    order: Number(row['sid']),
    session: String(row['id']) as SessionId, // the column takes nothing else
    parent: row['parent'] === null ? null : (String(row['parent']) as SessionId), // as above
    base: Number(row['base']),
    head: Number(row['head']),
    isPurged: row['purged_at'] !== null,
    meta: String(row['meta']),
    workspace: String(row['workspace']),
    activeAt: Number(row['active_at']),
    spoken: row['spoken'] === 1 ? 1 : 0,
    busy: row['busy'] === 1 ? 1 : 0,
    pinned: row['pinned'] === 1 ? 1 : 0,
  }
}
