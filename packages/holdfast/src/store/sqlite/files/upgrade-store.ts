import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { tighten } from '../../../system/files/private-directory.ts'
import { syncDirectorySync } from '../../../system/files/sync-directory.ts'
import { temporaryMark, temporaryPath } from '../../disk.ts'
import { checkRecord, recordColumns } from '../rows/columns.ts'
import { schemaVersion, type Upgrade, upgrades } from '../rows/schema.ts'
import { whileBusy } from './busy-retry.ts'

/** The steps of an upgrade, in order. A crash at any step leaves either the old store or the new one. */
export const upgradeSteps = ['begun', 'copied', 'backed_up', 'changed', 'verified', 'committed'] as const
export type UpgradeStep = (typeof upgradeSteps)[number]

export type UpgradeOptions = {
  /** Called at each step. */
  readonly at?: (step: UpgradeStep) => void
  readonly list?: readonly Upgrade[]
}

/** Returns the path of the copy of the old store. */
export const backupPathOf = (path: string, version: number): string => `${path}.v${version}-backup`

/** Upgrades a store in one transaction, after it copied the store. Returns a fault if the store was left unchanged. */
export function upgradeStore(
  path: string,
  { at = () => undefined, list = upgrades }: UpgradeOptions = {},
): Fault | null {
  // Not defensive: an upgrade may change the declaration of a column.
  const options = { timeout: 0, enableForeignKeyConstraints: false, defensive: false }
  using database = new DatabaseSync(path, options)
  whileBusy(() => database.exec('pragma synchronous = full; pragma fullfsync = 1; begin immediate'))
  try {
    const refusal = upgradeLocked(path, database, { at, list })
    database.exec(refusal === null ? 'commit' : 'rollback')
    if (refusal !== null) return refusal
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    throw error
  }
  at('committed')
  // The version is read from the main file, without its write-ahead log.
  whileBusy(() => database.prepare('pragma wal_checkpoint(truncate)').get())
  return null
}

/** The write lock is held, so the copy is exactly the store that is upgraded. */
function upgradeLocked(path: string, database: DatabaseSync, { at, list }: Required<UpgradeOptions>): Fault | null {
  const version = Number(database.prepare('pragma user_version').get()?.['user_version'])
  // Another process upgraded it first, or crashed before its checkpoint.
  if (version >= schemaVersion) return null
  at('begun')
  backUpStore(path, backupPathOf(path, version), () => at('copied'))
  at('backed_up')
  const before = countContent(database)
  for (const { to, statements } of list) if (to > version) database.exec(statements)
  database.exec(`pragma user_version = ${schemaVersion}`)
  at('changed')
  const after = countContent(database)
  if (!isSameContent(before, after)) return notUpgraded(path, version)
  at('verified')
  return null
}

/** Writes a copy of the store under another name that is synced and then renamed. Calls `copied` before the rename. */
function backUpStore(from: string, to: string, copied: () => void): void {
  const drafts = `${basename(to)}${temporaryMark}`
  // The caller has the write lock, so these belong to processes that died.
  for (const name of readdirSync(dirname(to)))
    if (name.startsWith(drafts)) rmSync(join(dirname(to), name), { force: true })
  const draft = temporaryPath(to)
  try {
    using source = new DatabaseSync(from, { readOnly: true })
    source.prepare('vacuum into ?').run(draft)
    // In WAL mode, like any store: moved back to its place, it opens.
    const copy = new DatabaseSync(draft)
    copy.exec('pragma journal_mode = wal')
    copy.close()
    tighten(draft, 0o600)
    const file = openSync(draft, 'r')
    fsyncSync(file)
    closeSync(file)
    copied()
    renameSync(draft, to)
    syncDirectorySync(dirname(to))
  } finally {
    for (const left of [draft, `${draft}-wal`, `${draft}-shm`, `${draft}-journal`]) rmSync(left, { force: true })
  }
}

/** Counts what an upgrade must not change: sessions, records, intact records, and what SQLite finds wrong. */
function countContent(database: DatabaseSync) {
  const count = (table: string) => Number(database.prepare(`select count(*) as count from ${table}`).get()?.['count'])
  const rows = database.prepare(`select id, ${recordColumns} from record join session using (sid)`)
  let intactRecords = 0
  for (const row of rows.iterate()) if (!('lost' in checkRecord(String(row['id']), row))) intactRecords += 1
  const found = database.prepare('pragma integrity_check').all()
  const problems = found.map((row) => String(row['integrity_check'])).filter((problem) => problem !== 'ok')
  return { sessions: count('session'), records: count('record'), intactRecords, problems: new Set(problems) }
}

type Content = ReturnType<typeof countContent>

/** A damaged store may be upgraded, if the upgrade adds no damage. */
const isSameContent = (before: Content, after: Content): boolean =>
  before.sessions === after.sessions &&
  before.records === after.records &&
  before.intactRecords === after.intactRecords &&
  after.problems.isSubsetOf(before.problems)

const notUpgraded = (path: string, version: number): Fault =>
  fault(
    'storage_error',
    `${path} could not be upgraded from version ${version} to ${schemaVersion}: data was missing afterwards. The file is unchanged.`,
    { reason: 'damaged', path, version },
  )
