import type { StorageReason } from './system-error.ts'

/** Why a store cannot be used. */
export type StoreReason = StorageReason | 'busy' | 'damaged' | 'lacks_table' | LossReason | 'network_file_system'

/** What another program did to the files of an open store. */
export type LossReason = 'replaced' | 'log_removed' | 'log_truncated'

/** What each reason means, as the end of a sentence without a path. */
export const sentences: Readonly<Record<StoreReason, string>> = {
  disk_full: 'the disk is full; free some space',
  read_only: 'it is read-only; make it and its directory writable',
  busy: 'another process has it locked; try again later',
  damaged: 'the file is damaged; run holdfast doctor',
  lacks_table:
    'a table is missing; if an earlier version wrote the store, open it to write once, otherwise restore a backup',
  replaced: 'the file was moved, removed or replaced while it was open; restart Holdfast',
  log_removed:
    'its write-ahead log was moved, removed or replaced while it was open; keep other programs from its files, and restart Holdfast',
  log_truncated:
    'its write-ahead log was truncated or overwritten while it was open; keep other programs from its files, and restart Holdfast',
  network_file_system: 'it is on a network file system, where locks and syncs are unreliable; use a local disk',
  io: 'the disk failed; see the system log',
}

/** Says what a reason means, without a path; null for one that is not known. */
export const describeReason = (reason: unknown): string | null =>
  typeof reason === 'string' && Object.hasOwn(sentences, reason) ? sentences[reason as StoreReason] : null
