import type { Result } from '@holdfast/protocol/result'
import type { StoreSource } from '../read-only-store.ts'
import { openSqliteSource } from '../sqlite/read-only-store.ts'
import type { DiskPlace } from './store-location.ts'

/** Opens a store to look at, whoever else has it open; null when there is none, and nothing is made. */
export async function openSource({ kind, path }: DiskPlace): Promise<Result<StoreSource | null>> {
  if (kind === 'sqlite') return openSqliteSource(path)
  const { openFoldingSource } = await import('./folding-source.ts') // brings core, which a list of a SQLite store never needs
  return openFoldingSource(path)
}
