import { fault } from '@holdfast/protocol/fault'
import { done, ok, type Result, refuse } from '@holdfast/protocol/result'
import { attempt, type Database, type Sql, type SqlRow } from '../connect/connect.ts'
import { postgresFault } from '../connect/postgres-fault.ts'
import { appendFunctions, fasterAppend, tenantTrust } from './append-function.ts'
import { clusterTables, placeBesideParent } from './cluster-tables.ts'
import { searchFunctions } from './search-function.ts'
import { sessionFunctions } from './session-functions.ts'
import { blobTables, schemaVersion, searchTables, tables } from './tables.ts'
import { tenantTables } from './tenant-tables.ts'

/** Version 4: the bytes of a content may be elsewhere. `object` says where, and `pieces` how many objects there are. */
const contentTables = `
alter table @content add column object text, add column pieces integer not null default 0;
`

/** Version 6: the permission rules that count at every node. */
const permissionTable = `
create table @permission (
  id text collate "C" primary key, tool text not null, pattern text, exact boolean, verdict text not null, workspace text,
  added bigint generated always as identity
);
`

type Migration = { readonly to: number; readonly statements: string }

/** The steps from an empty schema, in order. All run in one transaction. */
const migrations: readonly Migration[] = [
  { to: 1, statements: `${tables}${searchTables}${blobTables}${appendFunctions}${sessionFunctions}${searchFunctions}` },
  { to: 2, statements: clusterTables },
  { to: 3, statements: tenantTables },
  { to: 4, statements: contentTables },
  { to: 5, statements: fasterAppend },
  { to: 6, statements: `${placeBesideParent}${permissionTable}${tenantTrust}` },
]

/** Every name that the store uses, to check a schema and to refuse one of another program. */
const tableNames = [
  ...`${tables}${searchTables}${blobTables}${clusterTables}${tenantTables}${permissionTable}`.matchAll(
    /create table @([a-z_]+)/g,
  ),
].map(([, name]) => name)
const functionNames = [
  ...migrations
    .map(({ statements }) => statements)
    .join()
    .matchAll(/create (?:or replace )?function @([a-z_]+)/g),
].map(([, name]) => name)

/** The key of the lock that migrations take: 'hold' in ASCII. It ends with the transaction, so a pooler may be between. */
const lockKey = 0x686f6c64

/**
 * Creates the tables of a store, or converts those of an earlier version, and checks that they are complete. Two nodes
 * wait for each other. Refused: store_too_new, not_a_store, storage_error.
 */
export function prepareSchema(database: Database, schema: string): Promise<Result<void>> {
  return attempt(async () => {
    const found = await readVersion(database.read, schema)
    if (found !== schemaVersion) {
      const migrated = await database.transaction(async (sql) => {
        await sql('select pg_advisory_xact_lock($1, hashtext($2))', [lockKey, schema])
        return migrate(database, sql, schema)
      })
      if (!migrated.ok) return migrated
    }
    return verify(database, schema)
  })
}

async function migrate(database: Database, sql: Sql, schema: string): Promise<Result<void>> {
  const version = await readVersion(sql, schema)
  if (version > schemaVersion) return refuse(tooNew(database.name, version))
  if (version === 0) {
    const others = await namesIn(sql, schema, tableNames)
    if (others.length > 0) return refuse(notAStore(database.name, schema, others))
    await sql(`create schema if not exists "${schema}"`)
    await sql('create table @store (version integer not null)')
    await sql('insert into @store values (0)')
  }
  for (const { to, statements } of migrations) if (to > version) await sql(statements)
  await sql('update @store set version = $1', [schemaVersion])
  return done
}

/** Returns the version of the store in a schema; 0 if there is none. */
async function readVersion(sql: Sql, schema: string): Promise<number> {
  // A query of the catalogue, and not to_regclass: that may remember that the schema was missing.
  if ((await namesIn(sql, schema, ['store'])).length === 0) return 0
  const [row] = await sql('select version from @store')
  return Number(row?.['version'] ?? 0)
}

async function verify(database: Database, schema: string): Promise<Result<void>> {
  const [has, functions] = [await namesIn(database.read, schema, tableNames), await functionsIn(database.read, schema)]
  const missing = [
    ...tableNames.filter((name) => name !== undefined && !has.includes(name)),
    // Later migrations replace functions, so that a name may be there twice.
    ...new Set(functionNames.filter((name) => name !== undefined && !functions.includes(name))),
  ]
  if (missing.length === 0) return done
  const lacking = postgresFault(database.name, 'lacks_table', { missing })
  return refuse({ ...lacking, message: `${lacking.message} Missing: ${missing.join(', ')}.` })
}

const namesOf = (rows: readonly SqlRow[]): readonly string[] => rows.map(({ name }) => String(name))

const namesIn = async (sql: Sql, schema: string, names: readonly unknown[]): Promise<readonly string[]> =>
  namesOf(
    await sql('select tablename as name from pg_tables where schemaname = $1 and tablename = any($2)', [schema, names]),
  )

const functionsIn = async (sql: Sql, schema: string): Promise<readonly string[]> =>
  namesOf(await sql('select proname as name from pg_proc where pronamespace = to_regnamespace($1)', [`"${schema}"`]))

/** Refuses a database that acknowledges commits before they are on its disk. */
export function checkDurability(database: Database): Promise<Result<void>> {
  return attempt(async () => {
    const [row] = await database.read(
      `select current_setting('synchronous_commit') as synchronous_commit, current_setting('fsync') as fsync`,
    )
    const isDurable = row?.['synchronous_commit'] !== 'off' && row?.['fsync'] === 'on'
    return isDurable ? done : refuse(postgresFault(database.name, 'not_durable', { ...row }))
  })
}

const tooNew = (name: string, version: number) =>
  fault('store_too_new', `The store at ${name} was written by a newer Holdfast (version ${version} of its tables).`, {
    path: name,
    version,
    supported: schemaVersion,
  })

const notAStore = (name: string, schema: string, tablesThere: readonly string[]) =>
  fault('not_a_store', `The schema ${schema} at ${name} has tables of another program. Add schema=NAME to the URL.`, {
    path: name,
    tables: tablesThere,
  })

/** Returns whether there is a store in the schema, and checks that it is complete. Changes nothing. Refused: store_too_new, storage_error. */
export const findStore = (database: Database, schema: string): Promise<Result<boolean>> =>
  attempt(async () => {
    const version = await readVersion(database.read, schema)
    if (version > schemaVersion) return refuse(tooNew(database.name, version))
    if (version < schemaVersion) return ok(false)
    const verified = await verify(database, schema)
    return verified.ok ? ok(true) : verified
  })
