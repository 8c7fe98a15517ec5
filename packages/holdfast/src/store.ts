export type { Backup } from './backup/backup-store.ts'
export type { Conversations, ConversationsOptions } from './conversation/conversations.ts'
export type { ConversationMessage } from './conversation/message.ts'
export type { StoreReport } from './doctor/check-store.ts'
export type { Migration } from './migrate/migrate-store.ts'
export { type OpenConversationsOptions, openConversations } from './open-conversations.ts'
export { openFileBlobs } from './store/blobs/file-blobs.ts'
export { createMemoryBlobs } from './store/blobs/memory-blobs.ts'
export type { Finding, FindingCode } from './store/finding.ts'
export { openJsonlStore } from './store/jsonl/jsonl-store.ts'
export { createMemoryStore } from './store/memory/memory-store.ts'
export { openMirror } from './store/mirror/mirror.ts'
export { openSqliteStore } from './store/sqlite/sqlite-store.ts'
export {
  backupStore,
  type CheckStoreOptions,
  checkStore,
  type MigrateStoreOptions,
  migrateStore,
} from './upkeep/stores.ts'
