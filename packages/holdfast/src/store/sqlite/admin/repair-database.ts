import type { ToRepair } from '../../store-admin.ts'
import { openForReading, openForWriting } from '../file/database-file.ts'
import { findMissingUses } from './check-database.ts'

/** Repairs rows and columns in one transaction. The caller has exclusive use of the file. */
export function repairDatabase(path: string, { findings, repairs }: ToRepair): void {
  using database = openForWriting(path)
  const raiseHead = database.prepare(
    'update session set head = (select max(seq) from record where record.sid = session.sid) where id = ?',
  )
  const dropSnapshot = database.prepare('delete from snapshot where sid = (select sid from session where id = ?)')
  const setMeta = database.prepare('update session set meta = ? where id = ?')
  // An append does not write the lookup columns.
  const setColumns = database.prepare(`
    update session set handle = json_extract(meta, '$.handle'), key = json_extract(meta, '$.key'),
      workspace = json_extract(meta, '$.workspace'), pinned = json_extract(meta, '$.pinned')
    where id = ? and json_valid(meta)`)
  const useBlob = database.prepare('insert or ignore into blob_use (hash, sid, seq) values (?, ?, ?)')

  database.exec('begin immediate')
  for (const { code, place } of findings) if (code === 'head') raiseHead.run(place)
  for (const { session, dropsSnapshot, entry } of repairs) {
    if (dropsSnapshot) dropSnapshot.run(session)
    // Before the store is opened: a session whose metadata is not JSON cannot be appended to.
    setMeta.run(JSON.stringify(entry.meta), session)
  }
  for (const { code, place } of findings) if (code === 'row') setColumns.run(place)
  for (const { hash, sid, seq } of findMissingUses(database)) useBlob.run(hash, sid, seq)
  database.exec('commit')
}

/** Returns the rows of these sessions as JSON lines. */
export function readRawRows(path: string, sessions: readonly string[]): string {
  using database = openForReading(path)
  const row = database.prepare('select * from session where id = ?')
  return sessions.map((session) => `${JSON.stringify(row.get(session))}\n`).join('')
}
