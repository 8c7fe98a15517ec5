import type { Result } from '@holdfast/protocol/result'
import { openReadOnlyJsonl } from '../jsonl/read-only-store.ts'
import type { ReadOnlyStore } from '../read-only-store.ts'
import { entryOfLog } from './entry-of-log.ts'

/** Plain files to look at: rows their catalogue does not have are folded from the logs. */
export const openFoldingJsonl = (directory: string): Promise<Result<ReadOnlyStore | null>> =>
  openReadOnlyJsonl(directory, entryOfLog)
