import { createJsonlAdmin } from '../jsonl/admin/jsonl-admin.ts'
import { createSqliteAdmin } from '../sqlite/admin/sqlite-admin.ts'
import type { StoreAdmin } from '../store-admin.ts'
import type { DiskLocation } from './store-location.ts'

/** Returns the admin of a store. */
export const adminOf = ({ kind, path }: DiskLocation): StoreAdmin =>
  kind === 'sqlite' ? createSqliteAdmin(path) : createJsonlAdmin(path)
