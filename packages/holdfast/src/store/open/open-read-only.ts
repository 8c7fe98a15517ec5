import type { Result } from '@holdfast/protocol/result'
import type { ReadOnlyStore } from '../read-only-store.ts'
import { openReadOnlySqlite } from '../sqlite/read-only-store.ts'
import type { DiskLocation } from './store-location.ts'

/** Opens a store to read, even if another process has it open. Returns null if there is none, and creates none. */
export async function openReadOnlyStore({ kind, path }: DiskLocation): Promise<Result<ReadOnlyStore | null>> {
  switch (kind) {
    case 'sqlite':
      return openReadOnlySqlite(path)
    case 'jsonl': {
      // Imported on demand: it needs core, which `ls` of a SQLite store does not load.
      const { openReadOnlyJsonlStore } = await import('./jsonl-entries.ts')
      return openReadOnlyJsonlStore(path)
    }
  }
}
