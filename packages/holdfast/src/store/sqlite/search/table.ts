import type { DatabaseSync } from 'node:sqlite'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { sqliteCode } from '../../storage-fault.ts'
import { searchTables } from '../rows/schema.ts'

const triggers = ['search_forgets', 'search_moves', 'search_unmoves']
const shadows = ['data', 'idx', 'content', 'docsize', 'config'].map((name) => `search_${name}`)

/** Puts an empty word index in the place of the old one, in whatever state that is. Inside a transaction. */
export function renewSearchTables(database: DatabaseSync): void {
  for (const trigger of triggers) database.exec(`drop trigger if exists ${trigger}`)
  database.exec('drop table if exists search_moved')
  try {
    database.exec('drop table if exists search')
  } catch {
    dropRemains(database)
  }
  database.exec(searchTables)
}

/** Of a table whose own parts are gone SQLite drops nothing: its rows in the schema are removed by hand. */
function dropRemains(database: DatabaseSync): void {
  database.enableDefensive(false)
  try {
    for (const shadow of shadows) database.exec(`drop table if exists ${shadow}`)
    database.exec(`
      pragma writable_schema = on;
      delete from sqlite_schema where name = 'search' and type = 'table';
      pragma writable_schema = reset;
    `)
  } finally {
    database.enableDefensive(true)
  }
}

const corruptVirtualTable = 267
const [logicError, corrupt, constraint] = [1, 11, 19]

/** Whether it is the word index that failed, which can be made anew, rather than the store. */
export function isSearchDamage(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false
  if (error.errcode === corruptVirtualTable) return true
  return sqliteCode(error) === logicError && /\b(search(_\w+)?|fts5)\b/.test(error.message)
}

/** The same of an error met while nothing but the index was written. */
export function isSearchDamageWithin(error: unknown): boolean {
  const code = sqliteCode(error)
  return isSearchDamage(error) || code === logicError || code === corrupt || code === constraint
}

/** Says so without saying that the store is: only what is found by words depends on it. */
export const searchDamaged = (path: string): Fault =>
  fault(
    'storage_error',
    `${path} cannot be searched yet: its word index is missing or damaged. It is made anew once something is written.`,
    { reason: searchDamagedReason, path },
  )
export const searchDamagedReason = 'search_index'
