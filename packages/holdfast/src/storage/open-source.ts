import type { Result } from '@holdfast/protocol/result'
import { openSqliteSource } from '../store/sqlite/sqlite-source.ts'
import type { StoreSource } from '../store/store-source.ts'
import type { DiskPlace } from './store-place.ts'

/** Opens a store to look at, whoever else has it open; null when there is none, and nothing is made. */
export async function openSource({ kind, path }: DiskPlace): Promise<Result<StoreSource | null>> {
  if (kind === 'sqlite') return openSqliteSource(path)
  const { openFoldingSource } = await import('./folding-source.ts') // brings core, which a list of a SQLite store never needs
  return openFoldingSource(path)
}
