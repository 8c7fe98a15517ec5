import { loadSession } from '@holdfast/core'
import type { Result } from '@holdfast/protocol/result'
import type { EntryOfLog } from '../jsonl/catalogue/rebuild-rows.ts'
import { openReadOnlyJsonl } from '../jsonl/read-only-store.ts'
import type { ReadOnlyStore } from '../read-only-store.ts'

/** Computes a catalogue entry from a log. The store gets it from outside, because only core can fold events. */
export const entryOfLog: EntryOfLog = async (source, session) => {
  const loaded = await loadSession(source, session)
  return loaded.ok ? loaded.value.row.entry : null
}

/** Opens plain files to read. Rows that the catalogue lacks are computed from the logs. */
export const openReadOnlyJsonlStore = (directory: string): Promise<Result<ReadOnlyStore | null>> =>
  openReadOnlyJsonl(directory, entryOfLog)
