import type { Result } from '@holdfast/protocol/result'
import type { ReadOnlyStore } from '../read-only-store.ts'
import { openReadOnlySqlite } from '../sqlite/read-only-store.ts'
import type { DiskLocation } from './store-location.ts'

/** Opens a store to look at, whoever else has it open; null when there is none, and nothing is made. */
export async function openReadOnlyStore({ kind, path }: DiskLocation): Promise<Result<ReadOnlyStore | null>> {
  if (kind === 'sqlite') return openReadOnlySqlite(path)
  const { openFoldingJsonl } = await import('./folding-source.ts') // brings core, which a list of a SQLite store never needs
  return openFoldingJsonl(path)
}
