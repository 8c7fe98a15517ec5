export { openFileBlobs } from './store/blobs/file-blobs.ts'
export { createMemoryBlobs } from './store/blobs/memory-blobs.ts'
export { createMemoryStore } from './store/memory/memory-store.ts'
export { openSqliteStore } from './store/sqlite/sqlite-store.ts'
