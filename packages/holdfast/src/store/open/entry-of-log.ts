import { loadSession } from '@holdfast/core'
import type { EntryOfLog } from '../jsonl/catalogue/rebuild-rows.ts'

/** How a log becomes its row again: core knows, and the store is told. */
export const entryOfLog: EntryOfLog = async (source, session) => {
  const loaded = await loadSession(source, session)
  return loaded.ok ? loaded.value.row.entry : null
}
