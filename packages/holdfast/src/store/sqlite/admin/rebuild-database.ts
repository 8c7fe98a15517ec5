import { existsSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { HoldfastError } from '@holdfast/protocol/fault'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { storageFault } from '../../storage-fault.ts'
import { temporaryPath } from '../../temporary-path.ts'
import { readDamagedSessions, restoreSessions } from '../damage/salvage-sessions.ts'
import {
  isTableWhole,
  lastRecordOf,
  lastSessionOf,
  skipDamagedPages,
  unlessDamaged,
} from '../damage/skip-damaged-pages.ts'
import { openForWriting, prepareStoreFile } from '../file/database-file.ts'
import { findStartedFor, searchCursorName } from '../rows/schema.ts'

/** The earliest version whose rows are rows of this one. */
export const oldestRebuilt = 2

/**
 * Puts a new file in the place of a damaged one, with every row that can still be read: what SQLite cannot walk through
 * it can neither drop nor index anew. Whoever calls has kept the damaged file aside, and has the store alone.
 */
export async function rebuildDatabase(path: string): Promise<void> {
  const draft = temporaryPath(path)
  const refusal = prepareStoreFile(draft)
  if (refusal !== null) throw new HoldfastError(refusal)
  try {
    const wrong = copyRows(path, draft)
    if (wrong !== null) throw new HoldfastError(storageFault(path, 'damaged', { error: wrong }))
    // A log that is left beside either would be played into the file that gets this name.
    if ([path, draft].some((file) => existsSync(`${file}-wal`))) throw new HoldfastError(storageFault(path, 'busy'))
    await sync(draft)
    renameSync(draft, path)
    await syncDirectory(dirname(path))
  } finally {
    for (const left of [draft, `${draft}-wal`, `${draft}-shm`]) rmSync(left, { force: true })
  }
}

async function sync(path: string): Promise<void> {
  await using file = await open(path, 'r+')
  await file.sync()
}

/** Returns what SQLite finds wrong with the copy; null when it is whole. */
function copyRows(from: string, to: string): string | null {
  // Opened to write: closing the last connection to the damaged file folds its log into it.
  const damaged = openForWriting(from)
  const copy = openForWriting(to)
  try {
    const [sessions, records] = [lastSessionOf(damaged), lastRecordOf(damaged)]
    copy.exec('begin immediate')
    copyNumbered(damaged, copy, { table: 'session', key: 'sid', last: sessions })
    copyNumbered(damaged, copy, { table: 'record', key: 'pos', last: records })
    if (!isTableWhole(damaged, 'session')) restoreSessions(readDamagedSessions(damaged) ?? [], copy)
    for (const table of ['draft', 'snapshot']) copyNumbered(damaged, copy, { table, key: 'sid', last: sessions })
    // Not in every store of version 2, and told by the rows of sessions too; what either has is kept.
    if (hasTable(damaged, 'started_for'))
      copyNumbered(damaged, copy, { table: 'started_for', key: 'sid', last: sessions })
    copy.exec(findStartedFor)
    for (const table of ['node', 'trust', 'blob_use', 'cursor']) copySmall(damaged, copy, table)
    // The words are taken in anew, from the first record on.
    copy.prepare('delete from cursor where name = ?').run(searchCursorName)
    // The number of a session that is gone is given to no other.
    copy.prepare(`update sqlite_sequence set seq = max(seq, ?) where name = 'session'`).run(sessions)
    copy.exec('commit')
    const said = copy.prepare('pragma integrity_check(1)').get()?.['integrity_check']
    return said === 'ok' ? null : String(said)
  } finally {
    copy.close()
    damaged.close()
  }
}

const hasTable = (database: DatabaseSync, table: string): boolean =>
  database.prepare(`select 1 from sqlite_schema where type = 'table' and name = ?`).get(table) !== undefined

type Numbered = { readonly table: string; readonly key: string; readonly last: number }

function copyNumbered(damaged: DatabaseSync, copy: DatabaseSync, { table, key, last }: Numbered): void {
  const rows = damaged.prepare(`select * from ${table} not indexed where ${key} between ? and ?`)
  const put = createPut(copy, table)
  skipDamagedPages(1, last, (from, upTo) => {
    for (const row of rows.all(from, upTo)) put(row)
  })
}

/** A table of few rows, which have no numbers: what stands before the damage, and what stands behind it. */
function copySmall(damaged: DatabaseSync, copy: DatabaseSync, table: string): void {
  const put = createPut(copy, table)
  for (const order of ['asc', 'desc']) {
    unlessDamaged(
      () => {
        for (const row of damaged.prepare(`select * from ${table} order by 1 ${order}`).iterate()) put(row)
        return true
      },
      () => false,
    )
  }
}

/** What is there already, or contradicts what is there, is left out: a damaged page may repeat another. */
function createPut(copy: DatabaseSync, table: string): (row: Record<string, SQLOutputValue>) => void {
  const columns = copy.prepare(`select * from ${table} limit 0`).columns()
  const put = copy.prepare(`insert or ignore into ${table} values (${columns.map(() => '?').join(', ')})`)
  return (row) => void put.run(...Object.values(row))
}
