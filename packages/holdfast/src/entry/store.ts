export {
  type Blobs,
  compareListPlaces,
  decodeListCursor,
  encodeListCursor,
  type ListCursor,
  type Store,
} from '@holdfast/core/ports'
export { done, type Fault, fault, ok, orThrow, type Result, refuse } from '@holdfast/protocol'
export type { Backup } from '../admin/backup/backup-store.ts'
export type { StoreReport } from '../admin/doctor/check-store.ts'
export {
  backupStore,
  type CheckStoreOptions,
  checkStore,
  type HomeOptions,
  type MigrateStoreOptions,
  migrateStore,
} from '../admin/jobs/admin-stores.ts'
export type { Migration, MigrationProgress, RefusedSession } from '../admin/migrate/migrate-store.ts'
export type { Conversations, ConversationsOptions } from '../conversations/conversations.ts'
export type { ConversationMessage } from '../conversations/message.ts'
export { openFileBlobs } from '../store/blobs/file-blobs.ts'
export { createMemoryBlobs } from '../store/blobs/memory-blobs.ts'
export type { Finding, FindingCode } from '../store/finding.ts'
export { openJsonlStore } from '../store/jsonl/jsonl-store.ts'
export { createMetaMatch } from '../store/list-match.ts'
export { createMemoryStore } from '../store/memory/memory-store.ts'
export { type Mirror, openMirror } from '../store/mirror/mirror.ts'
export { type ScannedSession, type ScannedStore, scanSearch } from '../store/search/scan-search.ts'
export { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
/** The faults of stores, in the usual words. */
export * as storeFaults from '../store/store-faults.ts'
export { type OpenConversationsOptions, openConversations } from './open-conversations.ts'
