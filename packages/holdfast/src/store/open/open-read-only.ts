import type { Result } from '@holdfast/protocol/result'
import type { ReadOnlyStore } from '../read-only-store.ts'
import { openReadOnlySqlite } from '../sqlite/read-only-store.ts'
import type { SavedLocation } from './store-location.ts'

/** Opens a store to read, even if another process has it open. Returns null if there is none, and creates none. */
export async function openReadOnlyStore(location: SavedLocation): Promise<Result<ReadOnlyStore | null>> {
  switch (location.kind) {
    case 'sqlite':
      return openReadOnlySqlite(location.path)
    case 'postgres': {
      const { openReadOnlyPostgres } = await import('../postgres/read-only-store.ts')
      return openReadOnlyPostgres(location)
    }
    case 'jsonl': {
      // Imported on demand: it needs core, which `ls` of a SQLite store does not load.
      const { openReadOnlyJsonlStore } = await import('./jsonl-entries.ts')
      return openReadOnlyJsonlStore(location.path)
    }
  }
}
