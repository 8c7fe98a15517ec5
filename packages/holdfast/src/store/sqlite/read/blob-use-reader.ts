import type { DatabaseSync } from 'node:sqlite'

/** Which blobs records refer to. */
export function createBlobUseReader(database: DatabaseSync) {
  const used = database.prepare(`
    select value as hash from json_each(?) where exists (select 1 from blob_use where hash = value)`)
  // A session's own records, and of those above it what it shares.
  const usedBy = database.prepare(`
    with recursive lineage(sid, parent, base, upTo) as (
      select sid, parent, base, head from session where id = ? and purged_at is null
      union all
      select above.sid, above.parent, above.base, lineage.base from lineage join session above on above.sid = lineage.parent
    )
    select 1 from blob_use join lineage using (sid) where hash = ? and seq <= upTo limit 1`)

  return {
    inUse: (hashes: readonly string[]): readonly string[] =>
      used.all(JSON.stringify(hashes)).map((row) => String(row['hash'])),
    refersTo: (session: string, hash: string): boolean => usedBy.get(session, hash) !== undefined,
  }
}
