import type { DatabaseSync } from 'node:sqlite'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { sqliteCode } from '../../storage-fault.ts'
import { searchTables } from '../rows/schema.ts'

const triggers = ['search_forgets', 'search_moves', 'search_unmoves']
const shadows = ['data', 'idx', 'content', 'docsize', 'config'].map((name) => `search_${name}`)

/** Replaces the word index, in whatever state it is, with an empty one. The caller begins the transaction. */
export function renewIndexTables(database: DatabaseSync): void {
  for (const trigger of triggers) database.exec(`drop trigger if exists ${trigger}`)
  database.exec('drop table if exists search_moved')
  try {
    database.exec('drop table if exists search')
  } catch {
    dropBrokenIndex(database)
  }
  database.exec(searchTables)
}

/** SQLite cannot drop an FTS5 table that lacks one of its shadow tables: this removes its schema row instead. */
function dropBrokenIndex(database: DatabaseSync): void {
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

/** Returns whether the word index failed, which can be rebuilt, and not the store. */
export function isIndexDamage(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false
  if (error.errcode === corruptVirtualTable) return true
  return sqliteCode(error) === logicError && /\b(search(_\w+)?|fts5)\b/.test(error.message)
}

/** The same for an error that occurred while only the index was written. */
export function isIndexDamageWithin(error: unknown): boolean {
  const code = sqliteCode(error)
  return isIndexDamage(error) || code === logicError || code === corrupt || code === constraint
}

const reason = 'search_index'

/** The sessions are intact; only search needs the index. */
export const searchIndexFault = (path: string): Fault =>
  fault(
    'storage_error',
    `${path} cannot be searched: its word index is missing or damaged. The next write to the store rebuilds it.`,
    { reason, path },
  )

export const isSearchIndexFault = ({ details }: Fault): boolean => details?.['reason'] === reason
