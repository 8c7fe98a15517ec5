import { DatabaseSync } from 'node:sqlite'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { checked } from '../rows/record-reader.ts'
import { schemaVersion, type Upgrade, upgrades } from '../rows/schema.ts'
import { backUpStore } from './backup-before-upgrade.ts'
import { whileBusy } from './busy-retry.ts'

/** Where an upgrade stands, in order. A crash at any of them leaves the old store or the new one. */
export const upgradeSteps = ['begun', 'copied', 'backed_up', 'changed', 'verified', 'committed'] as const
export type UpgradeStep = (typeof upgradeSteps)[number]

export type UpgradeOptions = {
  /** Told of each step as it is reached. */
  readonly at?: (step: UpgradeStep) => void
  readonly list?: readonly Upgrade[]
}

/** Where the store as it was is left. */
export const backupPathOf = (path: string, version: number): string => `${path}.v${version}-backup`

/**
 * Brings a store of an earlier version to this one, in one transaction, after a copy of it was left beside. Whoever else
 * wants to write waits. It ends with a checkpoint: who looks at a file before opening it sees the main file only, never its
 * write-ahead log. Returns why it was left as it is, or null. Throws what SQLite and the file system throw.
 */
export function upgradeStore(
  path: string,
  { at = () => undefined, list = upgrades }: UpgradeOptions = {},
): Fault | null {
  // Not defensive: an upgrade may change how a column is declared.
  const options = { timeout: 0, enableForeignKeyConstraints: false, defensive: false }
  const database = new DatabaseSync(path, options)
  try {
    whileBusy(() => database.exec('pragma synchronous = full; pragma fullfsync = 1; begin immediate'))
    try {
      const refusal = upgradeHeld(path, database, { at, list })
      database.exec(refusal === null ? 'commit' : 'rollback')
      if (refusal !== null) return refusal
    } catch (error) {
      if (database.isTransaction) database.exec('rollback')
      throw error
    }
    at('committed')
    whileBusy(() => database.prepare('pragma wal_checkpoint(truncate)').get())
    return null
  } finally {
    database.close()
  }
}

/** Nobody else can write: what is copied is what is changed. */
function upgradeHeld(path: string, database: DatabaseSync, { at, list }: Required<UpgradeOptions>): Fault | null {
  const version = Number(database.prepare('pragma user_version').get()?.['user_version'])
  // Another process was first, or a crash came before its checkpoint.
  if (version >= schemaVersion) return null
  at('begun')
  backUpStore(path, backupPathOf(path, version), () => at('copied'))
  at('backed_up')
  const before = takeStock(database)
  for (const { to, statements } of list) if (to > version) database.exec(statements)
  database.exec(`pragma user_version = ${schemaVersion}`)
  at('changed')
  const after = takeStock(database)
  if (!isSameStock(before, after)) return notUpgraded(path, version)
  at('verified')
  return null
}

/** What an upgrade must leave as it is: every session, every record, and what is whole of them. */
type Stock = {
  readonly sessions: number
  readonly records: number
  readonly wholeRecords: number
  /** What SQLite itself finds wrong with the file. */
  readonly problems: ReadonlySet<string>
}

function takeStock(database: DatabaseSync): Stock {
  const count = (table: string) => Number(database.prepare(`select count(*) as count from ${table}`).get()?.['count'])
  const rows = database.prepare(`
    select session.id, record.seq, record.at, type, v, client, command_id, ref, crc, body
    from record join session using (sid)`)
  let wholeRecords = 0
  for (const row of rows.iterate()) if (!('lost' in checked(String(row['id']), row))) wholeRecords += 1
  const found = database.prepare('pragma integrity_check').all()
  const problems = found.map((row) => String(row['integrity_check'])).filter((problem) => problem !== 'ok')
  return { sessions: count('session'), records: count('record'), wholeRecords, problems: new Set(problems) }
}

/** A store that was damaged before may be so afterwards, and no more. */
const isSameStock = (before: Stock, after: Stock): boolean =>
  before.sessions === after.sessions &&
  before.records === after.records &&
  before.wholeRecords === after.wholeRecords &&
  after.problems.isSubsetOf(before.problems)

const notUpgraded = (path: string, version: number): Fault =>
  fault(
    'storage_error',
    `${path} could not be brought from version ${version} to ${schemaVersion}: not all was there afterwards. It was left as it is.`,
    { reason: 'damaged', path, version },
  )
