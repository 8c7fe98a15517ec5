import { createJsonlUpkeep } from '../jsonl/admin/jsonl-admin.ts'
import { createSqliteUpkeep } from '../sqlite/admin/sqlite-admin.ts'
import type { StoreUpkeep } from '../store-admin.ts'
import type { DiskPlace } from './store-location.ts'

/** What a store knows of its own files. */
export const upkeepOf = ({ kind, path }: DiskPlace): StoreUpkeep =>
  kind === 'sqlite' ? createSqliteUpkeep(path) : createJsonlUpkeep(path)
