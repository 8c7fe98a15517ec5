import type { Result } from '@holdfast/protocol/result'
import { openJsonlSource } from '../jsonl/read-only-store.ts'
import type { StoreSource } from '../read-only-store.ts'
import { entryOfLog } from './entry-of-log.ts'

/** Plain files to look at: rows their catalogue does not have are folded from the logs. */
export const openFoldingSource = (directory: string): Promise<Result<StoreSource | null>> =>
  openJsonlSource(directory, entryOfLog)
