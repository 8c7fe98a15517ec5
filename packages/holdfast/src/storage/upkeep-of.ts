import { createJsonlUpkeep } from '../store/jsonl/upkeep/jsonl-upkeep.ts'
import { createSqliteUpkeep } from '../store/sqlite/upkeep/sqlite-upkeep.ts'
import type { StoreUpkeep } from '../store/store-upkeep.ts'
import type { DiskPlace } from './store-place.ts'

/** What a store knows of its own files. */
export const upkeepOf = ({ kind, path }: DiskPlace): StoreUpkeep =>
  kind === 'sqlite' ? createSqliteUpkeep(path) : createJsonlUpkeep(path)
