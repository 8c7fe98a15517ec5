import { existsSync } from 'node:fs'
import { fault, HoldfastError } from '@holdfast/protocol/fault'
import { orThrow } from '@holdfast/protocol/result'
import { temporaryPath } from '../../disk.ts'
import type { FindingCode } from '../../finding.ts'
import type { StoreAdmin, ToRepair } from '../../store-admin.ts'
import { findFileFault, listSavedCopies, openForReading, openForWriting } from '../files/database-file.ts'
import { describeDamage, findHeaderProblems, removeCopy } from '../repair/corrected-copy.ts'
import { addSavedRecords, findSavedRecords, removeBeside } from '../repair/recovered-copy.ts'
import { decompressBody } from '../rows/columns.ts'
import { openSqliteStore } from '../sqlite-store.ts'
import { areTablesIntact, canRebuild, checkDatabase, checkFiles, findMissingUses, lossOf } from './check-database.ts'
import { copyDamagedDatabase, copyDatabase, type DamagedCopy, moveDatabase, replaceDatabase } from './copy-database.ts'

/** The codes that a damaged page may be reported with. */
const pageCodes: ReadonlySet<FindingCode> = new Set(['damaged_file', 'search'])
const rowCodes: ReadonlySet<FindingCode> = new Set(['row', 'head'])

/** Checks, repairs and copies a store file and the files beside it. */
export function createSqliteAdmin(path: string): StoreAdmin {
  return {
    quarantineDir: `${path}.quarantine`,
    checkFiles: () => checkFiles(path),
    checkInside: () => checkDatabase(path),
    hasDamagedPages: () => hasDamagedPages(path),
    async copyReadableTo(copy) {
      const copied = copyDamagedDatabase(path, copy)
      return copied === null ? null : describeDamagedCopy(path, copied)
    },
    async saveDamaged(quarantine) {
      for (const file of [path, `${path}-wal`]) if (existsSync(file)) await quarantine.copy(file)
    },
    replaceWith: (copy) => replaceDatabase(path, copy),
    async findReplacement() {
      const saved = listSavedCopies(path).at(-1) ?? null
      return saved !== null && (!existsSync(path) || isReplaceable(path, saved)) ? saved : null
    },
    async putBack(saved, quarantine) {
      // Also the log: SQLite would replay what is left of it into the copy.
      for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) await quarantine.move(file)
      removeBeside(saved)
      await moveDatabase(saved, path)
    },
    async repair(found, quarantine) {
      const changed = new Set(
        found.findings.filter(({ code }) => rowCodes.has(code)).map(({ subject: place }) => place),
      )
      if (changed.size > 0) await quarantine.note('rows.jsonl', readRawRows(path, [...changed]))
      for (const { session } of found.removals)
        await quarantine.note(`${session}.jsonl`, readWholeSession(path, session))
      repairDatabase(path, found)
      for (const { code, subject: saved } of found.findings) {
        if (code !== 'saved_copy' && code !== 'kept_aside') continue
        if (code === 'saved_copy') addSavedRecords(path, saved)
        if (findSavedRecords(path, saved).conflicts.length > 0) continue // it is still needed
        removeBeside(saved)
        await quarantine.move(saved)
      }
    },
    async rebuildIndexes(findings) {
      if (!findings.some(({ code }) => pageCodes.has(code))) return
      const store = orThrow(await openSqliteStore({ path }))
      try {
        orThrow(await store.rebuildSearch())
      } finally {
        await store.close()
      }
    },
    async copyTo(copy) {
      const problem = await copyDatabase(path, copy)
      if (problem === null) return
      const message = `The store at ${path} is damaged, so its copy would be too: ${problem}. Run holdfast doctor for details.`
      throw new HoldfastError(fault('storage_error', message, { reason: 'damaged', path }))
    },
  }
}

/** Says what is wrong with the file, and what is missing apart from the records that their sessions report as lost. */
function describeDamagedCopy(path: string, copied: DamagedCopy) {
  const { damagedTables, hasTableList, orphans, renamed, mayLackSessions, mayReturnRemoved } = copied
  const tables = hasTableList
    ? damagedTables.map((table) => `pages of the table ${table} are damaged`)
    : ['its list of tables cannot be read']
  const missing = damagedTables.flatMap((table) => lossOf[table] ?? [])
  if (mayLackSessions) missing.push('any session whose row and records cannot be read')
  if (orphans.records > 0) missing.push(`${orphans.records} records of ${orphans.sessions} sessions whose ids are lost`)
  if (renamed.length > 0) missing.push(`the ids of sessions, which are now ${renamed.join(', ')}`)
  if (mayReturnRemoved) missing.push('which sessions were removed before: some of them may be listed again')
  const loss = missing.length === 0 ? null : missing.join('; ')
  return { what: [describeDamage(path), ...tables].join('; '), loss }
}

/** Returns whether SQLite cannot read all pages, or an index lacks rows. The word index is rebuilt otherwise. */
function hasDamagedPages(path: string): boolean {
  if ((findHeaderProblems(path) ?? []).length > 0) return true
  using database = openForReading(path)
  return canRebuild(database) && !areTablesIntact(database)
}

/** Returns whether a file is no store, and nothing can be read of it and its log that a saved copy lacks. */
function isReplaceable(path: string, saved: string): boolean {
  if (findFileFault(path)?.details?.['reason'] !== 'recovered') return false
  const readable = temporaryPath(path)
  try {
    if (copyDamagedDatabase(path, readable) === null) return true
    const { sessions, conflicts } = findSavedRecords(saved, readable)
    return sessions.length + conflicts.length === 0
  } finally {
    removeCopy(readable)
  }
}

/** Repairs rows and columns in one transaction. The caller has exclusive use of the file. */
function repairDatabase(path: string, { findings, repairs }: ToRepair): void {
  using database = openForWriting(path)
  const raiseHead = database.prepare(
    'update session set head = (select max(seq) from record where record.sid = session.sid) where id = ?',
  )
  const dropSnapshot = database.prepare('delete from snapshot where sid = (select sid from session where id = ?)')
  const setMeta = database.prepare('update session set meta = ? where id = ?')
  // An append does not write the lookup columns. The placeholder of a session that cannot be opened lacks some of them.
  const columnOf = (name: string, otherwise: string) =>
    `${name} = coalesce(json_extract(meta, '$.${name}'), ${otherwise})`
  const setColumns = database.prepare(`
    update session set ${columnOf('handle', 'handle')}, ${columnOf('key', 'null')},
      ${columnOf('workspace', 'workspace')}, ${columnOf('pinned', 'pinned')}
    where id = ? and json_valid(meta)`)
  const useBlob = database.prepare('insert or ignore into blob_use (hash, sid, seq) values (?, ?, ?)')

  database.exec('begin immediate')
  for (const { code, subject: place } of findings) if (code === 'head') raiseHead.run(place)
  for (const { session, dropsSnapshot, entry } of repairs) {
    if (dropsSnapshot) dropSnapshot.run(session)
    // Before the store is opened: a session whose metadata is not JSON cannot be appended to.
    setMeta.run(JSON.stringify(entry.meta), session)
  }
  for (const { code, subject: place } of findings) if (code === 'row') setColumns.run(place)
  for (const { hash, sid, seq } of findMissingUses(database)) useBlob.run(hash, sid, seq)
  database.exec('commit')
}

/** Returns the rows of these sessions as JSON lines. */
function readRawRows(path: string, sessions: readonly string[]): string {
  using database = openForReading(path)
  const row = database.prepare('select * from session where id = ?')
  return sessions.map((session) => `${JSON.stringify(row.get(session))}\n`).join('')
}

/** Returns the row of a session and all its records as JSON lines. */
function* readWholeSession(path: string, session: string): Generator<string> {
  yield readRawRows(path, [session])
  using database = openForReading(path)
  const records = database.prepare(`
    select record.* from record where sid = (select sid from session where id = ?) order by seq`)
  for (const row of records.iterate(session)) yield `${JSON.stringify({ ...row, body: legibleBody(row['body']) })}\n`
}

/** Bytes that cannot be decompressed are kept as base64. */
const legibleBody = (body: unknown): string =>
  decompressBody(body) || (body instanceof Uint8Array ? Buffer.from(body).toString('base64') : '')
