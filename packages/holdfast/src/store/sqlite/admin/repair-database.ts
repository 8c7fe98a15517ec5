import type { DatabaseSync } from 'node:sqlite'
import type { SessionRepair, ToRepair } from '../../store-admin.ts'
import { openForReading, openForWriting } from '../file/database-file.ts'
import { findMissingUses } from './check-database.ts'

/** Repairs rows and columns in one transaction. The caller has exclusive use of the file. */
export function repairDatabase(path: string, { findings, repairs }: ToRepair): void {
  using database = openForWriting(path)
  database.exec('begin immediate')
  for (const { code, place } of findings) if (code === 'head') raiseHead(database, place)
  for (const { session, dropsSnapshot } of repairs) if (dropsSnapshot) dropSnapshot(database, session)
  for (const repair of repairs) setRow(database, repair)
  for (const { code, place } of findings) if (code === 'row') setColumns(database, place)
  for (const use of findMissingUses(database)) {
    database.prepare('insert or ignore into blob_use (hash, sid, seq) values (?, ?, ?)').run(use.hash, use.sid, use.seq)
  }
  database.exec('commit')
}

const raiseHead = (database: DatabaseSync, session: string): void =>
  void database
    .prepare('update session set head = (select max(seq) from record where record.sid = session.sid) where id = ?')
    .run(session)

const dropSnapshot = (database: DatabaseSync, session: string): void =>
  void database.prepare('delete from snapshot where sid = (select sid from session where id = ?)').run(session)

/** Runs before the store is opened: a session whose metadata is not JSON cannot be appended to. */
const setRow = (database: DatabaseSync, { session, entry }: SessionRepair): void =>
  void database.prepare('update session set meta = ? where id = ?').run(JSON.stringify(entry.meta), session)

/** An append does not write the lookup columns. */
const setColumns = (database: DatabaseSync, session: string): void =>
  void database
    .prepare(`
      update session set handle = json_extract(meta, '$.handle'), key = json_extract(meta, '$.key'),
        workspace = json_extract(meta, '$.workspace'), pinned = json_extract(meta, '$.pinned')
      where id = ? and json_valid(meta)`)
    .run(session)

/** Returns the rows of these sessions as JSON lines. */
export function readRawRows(path: string, sessions: readonly string[]): string {
  using database = openForReading(path)
  const row = database.prepare('select * from session where id = ?')
  return sessions.map((session) => `${JSON.stringify(row.get(session))}\n`).join('')
}
