import type { Result } from '@holdfast/protocol/result'
import { openJsonlSource } from '../store/jsonl/jsonl-source.ts'
import type { StoreSource } from '../store/store-source.ts'
import { entryOfLog } from './entry-of-log.ts'

/** Plain files to look at: rows their catalogue does not have are folded from the logs. */
export const openFoldingSource = (directory: string): Promise<Result<StoreSource | null>> =>
  openJsonlSource(directory, entryOfLog)
