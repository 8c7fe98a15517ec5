import type { Blobs, OnProblem, Store } from '@holdfast/core/ports'
import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import { wallClock } from '../../system/wall-clock.ts'
import { openFileBlobs } from '../blobs/file-blobs.ts'
import { createMemoryBlobs } from '../blobs/memory-blobs.ts'
import { openJsonlStore } from '../jsonl/jsonl-store.ts'
import type { PlacedStore } from '../list-cursor.ts'
import { createMemoryStore } from '../memory/memory-store.ts'
import { type Mirror, openMirror } from '../mirror/mirror.ts'
import { createMirroredBlobs } from '../mirror/mirrored-blobs.ts'
import { createSplitStore } from '../split/split-store.ts'
import { openSqliteStore } from '../sqlite/sqlite-store.ts'
import { entryOfLog } from './entry-of-log.ts'
import { type DiskLocation, parseStoreUrl, type StoreHome, type StoreLocation } from './store-location.ts'

/** An open store with its blobs. */
export type Storage = {
  readonly place: StoreLocation
  readonly store: Store
  readonly blobs: Blobs
  readonly mirror: Mirror | null
}

export type StorageAsked = {
  /** The store of the home when absent. */
  readonly url?: string | undefined
  readonly mirror?: string | undefined
  readonly home: StoreHome
  readonly onProblem: OnProblem
}

/** Opens the store that a URL names, or makes it. Sessions that are never to be on disk live beside it. */
export async function openStorage({ url, mirror: directory, home, onProblem }: StorageAsked): Promise<Result<Storage>> {
  const parsed = parseStoreUrl(url, home)
  if (!parsed.ok) return parsed
  const place = parsed.value
  if (place.kind !== 'sqlite' && directory !== undefined) {
    const message = `Only a SQLite store has a mirror; ${place.url} is none.`
    return refuse(fault('bad_request', message, { store: place.url, mirror: directory }))
  }
  if (place.kind === 'memory')
    return ok({ place, store: createMemoryStore(), blobs: createMemoryBlobs(), mirror: null })
  const opened = await openDiskStore(place, onProblem)
  if (!opened.ok) return opened
  const { store, blobs, followed } = opened.value
  const beside = { place, store: createSplitStore(store, createMemoryStore()), blobs }
  if (directory === undefined || followed === null) return ok({ ...beside, mirror: null })
  const mirror = await openMirror({ log: followed, blobs, directory, now: wallClock.now, onProblem })
  if (mirror.ok) {
    return ok({ ...beside, mirror: mirror.value, blobs: createMirroredBlobs(blobs, mirror.value, onProblem) })
  }
  await store.close()
  return mirror
}

export type DiskStore = {
  readonly store: PlacedStore
  readonly blobs: Blobs
  /** Of a SQLite store: its log across sessions, for whoever keeps a copy. */
  readonly followed: Parameters<typeof openMirror>[0]['log'] | null
}

/** A store on disk alone, with nothing beside it in memory. */
export async function openDiskStore(place: DiskLocation, onProblem: OnProblem): Promise<Result<DiskStore>> {
  const { path } = place
  if (place.kind === 'jsonl') {
    const store = await openJsonlStore({ directory: path, now: wallClock.now, entryOf: entryOfLog, onProblem })
    return store.ok ? withBlobs({ store: store.value, followed: null }, place) : store
  }
  const store = await openSqliteStore({ path })
  return store.ok ? withBlobs({ store: store.value, followed: store.value.followed }, place) : store
}

async function withBlobs(opened: Omit<DiskStore, 'blobs'>, { blobsDir }: DiskLocation): Promise<Result<DiskStore>> {
  const blobs = await openFileBlobs(blobsDir)
  if (blobs.ok) return ok({ ...opened, blobs: blobs.value })
  await opened.store.close()
  return blobs
}
