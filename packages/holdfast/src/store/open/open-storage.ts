import type { Blobs, Cluster, OnProblem, Store } from '@holdfast/core/ports'
import { type Fault, fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { Environment } from '../../system/home.ts'
import { wallClock } from '../../system/wall-clock.ts'
import { openFileBlobs } from '../blobs/file-blobs.ts'
import { createMemoryBlobs } from '../blobs/memory-blobs.ts'
import { openJsonlStore } from '../jsonl/jsonl-store.ts'
import { createMemoryStore } from '../memory/memory-store.ts'
import { createMirroredBlobs, type Mirror, openMirror } from '../mirror/mirror.ts'
import { openSqliteStore, type SqliteStore } from '../sqlite/sqlite-store.ts'
import { entryOfLog } from './jsonl-entries.ts'
import { openDatabaseStore } from './open-blobs.ts'
import {
  type DiskLocation,
  isOnDisk,
  parseStoreUrl,
  type SavedLocation,
  type StoreHome,
  type StoreLocation,
} from './store-location.ts'

/** An open store with its blobs. */
export type Storage = {
  readonly location: StoreLocation
  readonly store: Store
  /** For sessions that are never written to disk. */
  readonly memoryStore: Store
  readonly blobs: Blobs
  readonly mirror: Mirror | null
  /** What a store for several machines adds; null for one machine. */
  readonly cluster: Cluster | null
  readonly openWriterPort: DiskStore['openWriterPort']
}

type StorageOptions = {
  /** A URL, or a store of the program. If absent, the store of the home directory. */
  readonly store?: string | Store | undefined
  /** The blobs of a store of the program, in memory by default; or the place for those of a PostgreSQL store. */
  readonly blobs?: Blobs | string | undefined
  /** Has the keys of that place. */
  readonly environment?: Environment | undefined
  readonly mirror?: string | undefined
  readonly home: StoreHome
  readonly onProblem: OnProblem
  /** Nothing is opened or created before it resolves, and nothing at all if it is rejected. Threads start at once. */
  readonly checked?: Promise<unknown> | undefined
}

/** Opens the store of a URL, or creates it; or takes the store of the program. */
export async function openStorage(options: StorageOptions): Promise<Result<Storage>> {
  const { store: given, blobs: ownBlobs, mirror: directory, home, onProblem } = options
  if (typeof given === 'object') {
    await options.checked
    return typeof ownBlobs === 'string' ? refuse(noPlace) : takeStore(given, ownBlobs, directory)
  }
  if (typeof ownBlobs === 'object') return refuse(blobsAlone)
  const parsed = parseStoreUrl(given, home)
  if (!parsed.ok) return parsed
  const location = parsed.value
  if (location.kind !== 'sqlite' && directory !== undefined) return refuse(noMirror(location, directory))
  const memoryStore = createMemoryStore()
  if (location.kind === 'postgres') return openDatabase(location, memoryStore, options)
  if (ownBlobs !== undefined) return refuse(noPlace)
  if (location.kind === 'memory')
    return ok({
      location,
      store: memoryStore,
      memoryStore,
      blobs: createMemoryBlobs(),
      mirror: null,
      cluster: null,
      openWriterPort: null,
    })
  const opened = await openDiskStore(location, onProblem, options.checked)
  if (!opened.ok) return opened
  const { store, blobs, followed, openWriterPort } = opened.value
  const beside = { location, store, memoryStore, blobs, openWriterPort, cluster: null }
  if (directory === undefined || followed === null) return ok({ ...beside, mirror: null })
  const mirror = await openMirror({ log: followed, blobs, directory, now: wallClock.now, onProblem })
  if (mirror.ok) {
    return ok({ ...beside, mirror: mirror.value, blobs: createMirroredBlobs(blobs, mirror.value, onProblem) })
  }
  await store.close()
  return mirror
}

/** Opens a store in a database, with its blobs. */
async function openDatabase(
  location: Extract<SavedLocation, { kind: 'postgres' }>,
  memoryStore: Store,
  { blobs: given, environment, onProblem, checked }: StorageOptions,
): Promise<Result<Storage>> {
  await checked
  const blobs = typeof given === 'string' ? given : undefined
  const opened = await openDatabaseStore(location, { environment, blobs, onProblem })
  if (!opened.ok) return opened
  return ok({ location, ...opened.value, memoryStore, mirror: null, openWriterPort: null })
}

/** Takes a store that the program brings. */
function takeStore(store: Store, blobs: Blobs | undefined, mirror: string | undefined): Result<Storage> {
  const location: StoreLocation = { kind: 'own', url: 'own:' }
  const missing = storeMethods.filter((name) => typeof store[name] !== 'function')
  if (missing.length > 0) {
    const message = `The option store is not a store URL and not a Store: it has no ${missing.join(', ')}.`
    return refuse(fault('bad_request', message, { missing }))
  }
  if (mirror !== undefined) return refuse(noMirror(location, mirror))
  const memoryStore = createMemoryStore()
  const own = blobs ? bindMethods(blobs, blobMethods(blobs)) : createMemoryBlobs()
  const { tenants, permissionRules } = store
  const bound: Store = {
    ...bindMethods(store, storeMethods),
    ...(tenants && { tenants }),
    ...(permissionRules && { permissionRules }),
  }
  return ok({ location, store: bound, memoryStore, blobs: own, mirror: null, cluster: null, openWriterPort: null })
}

/** Returns the methods as functions of their own: the parts of the runtime pass on single ones, also of an instance of a class. */
function bindMethods<Port extends object>(port: Port, names: readonly (keyof Port)[]): Port {
  const bound = names.map((name) => {
    const method = port[name]
    return [name, typeof method === 'function' ? method.bind(port) : method]
  })
  return Object.fromEntries(bound) as Port // has all methods of the port
}

const blobMethods = (blobs: Blobs): readonly (keyof Blobs)[] => [
  ...(['put', 'open', 'has', 'sweep'] as const),
  ...(blobs.probe ? (['probe'] as const) : []),
]

/** Every method of the port, so that an incomplete store is refused when it is opened, not when it is used. */
const storeMethods = Object.keys({
  create: true,
  append: true,
  read: true,
  readRefs: true,
  findCommand: true,
  commandHash: true,
  list: true,
  find: true,
  busy: true,
  entry: true,
  removeUnspoken: true,
  trash: true,
  restore: true,
  purge: true,
  registerNode: true,
  nodes: true,
  removeNode: true,
  claim: true,
  release: true,
  workspaceTrust: true,
  saveDraft: true,
  loadDraft: true,
  saveSnapshot: true,
  loadSnapshot: true,
  search: true,
  addToken: true,
  tokens: true,
  removeToken: true,
  touchToken: true,
  addCharge: true,
  spentOn: true,
  listSpending: true,
  caps: true,
  setCap: true,
  removeCap: true,
  blobsInUse: true,
  refersTo: true,
  probe: true,
  close: true,
} satisfies Record<Exclude<keyof Store, 'tenants' | 'permissionRules'>, true>) as readonly (keyof Store)[] // TypeScript widens the keys to string

const noPlace = fault('bad_request', 'Only a PostgreSQL store (postgres://…) can keep its files in an s3:// place.')

const blobsAlone = fault('bad_request', 'The option blobs needs a store of your own in the option store.')

const noMirror = ({ url }: StoreLocation, mirror: string): Fault =>
  fault('bad_request', `Only a SQLite store can have a mirror, and ${url} is not one.`, { store: url, mirror })

export type DiskStore = {
  readonly store: Store
  readonly blobs: Blobs
  /** The log of all sessions, for a mirror; null for a JSONL store. */
  readonly followed: Parameters<typeof openMirror>[0]['log'] | null
  /** Lets another thread write to the store; null for a JSONL store. */
  readonly openWriterPort: SqliteStore['openWriterPort'] | null
}

/** Opens a store that outlives its process, with its blobs. */
export async function openSavedStore(
  location: SavedLocation,
  onProblem: OnProblem,
  environment?: Environment,
): Promise<Result<Pick<DiskStore, 'store' | 'blobs'>>> {
  return isOnDisk(location)
    ? openDiskStore(location, onProblem)
    : openDatabaseStore(location, { environment, onProblem })
}

/** Opens a store on disk, without the store in memory beside it. */
export async function openDiskStore(
  location: DiskLocation,
  onProblem: OnProblem,
  checked?: Promise<unknown>,
): Promise<Result<DiskStore>> {
  const { kind, path } = location
  switch (kind) {
    case 'sqlite': {
      const store = await openSqliteStore({ path }, checked)
      if (!store.ok) return store
      const { followed, openWriterPort } = store.value
      return withBlobs({ store: store.value, followed, openWriterPort }, location)
    }
    case 'jsonl': {
      await checked
      const store = await openJsonlStore({ directory: path, now: wallClock.now, entryOf: entryOfLog, onProblem })
      return store.ok ? withBlobs({ store: store.value, followed: null, openWriterPort: null }, location) : store
    }
  }
}

async function withBlobs(opened: Omit<DiskStore, 'blobs'>, { blobsDir }: DiskLocation): Promise<Result<DiskStore>> {
  const blobs = await openFileBlobs(blobsDir)
  if (blobs.ok) return ok({ ...opened, blobs: blobs.value })
  await opened.store.close()
  return blobs
}
