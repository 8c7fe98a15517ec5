import { join } from 'node:path'
import { createRoster, loadSession, type Roster } from '@holdfast/core'
import type { Blobs, OnProblem, Problem, Store } from '@holdfast/core/ports'
import { createRequests } from '@holdfast/core/requests'
import { fault, HoldfastError, ok, type Result, refuse } from '@holdfast/protocol'
import { createArtefacts } from './artefacts/artefacts.ts'
import { createHoldfast, type Holdfast } from './holdfast.ts'
import { type Environment, findHome, type Home } from './home.ts'
import { newHandle } from './identity/handle.ts'
import { newSessionId } from './identity/session-id.ts'
import { createImages } from './images/images.ts'
import { createInstructions } from './instructions/instructions.ts'
import { createMemory } from './memory/memory.ts'
import { isNodeAlive, type NodeSocket, openNodeSocket, removeNodeSocket } from './node/node-socket.ts'
import { wallClock } from './platform/wall-clock.ts'
import { resolveWorkdir } from './platform/workdir.ts'
import { createModels, defaultModel, type ModelsParts } from './providers/models.ts'
import { createRequestThread } from './requests/request-thread.ts'
import type { RequestSource } from './requests/wire.ts'
import { openFileBlobs } from './store/blobs/file-blobs.ts'
import { createMemoryBlobs } from './store/blobs/memory-blobs.ts'
import { openJsonlStore } from './store/jsonl/jsonl-store.ts'
import type { EntryOfLog } from './store/jsonl/rebuild-rows.ts'
import type { PlacedStore } from './store/list-cursor.ts'
import { createMemoryStore } from './store/memory/memory-store.ts'
import { type Mirror, openMirror } from './store/mirror/mirror.ts'
import { createSplitStore } from './store/split/split-store.ts'
import { openSqliteStore } from './store/sqlite/sqlite-store.ts'
import { createTools } from './tools/tools.ts'

export type OpenOptions = {
  /** `sqlite:PATH`, `jsonl:DIR` or `memory:`; by default the SQLite file of the user's data directory. */
  readonly store?: string | undefined
  /** A directory that gets every session of the SQLite store as a plain file, within a second. */
  readonly mirror?: string | undefined
  /** Where credentials, paths and options come from; the process's own by default. */
  readonly environment?: Environment | undefined
  /** Models the program brings: any AI SDK model object, by the name people will use. */
  readonly models?: ModelsParts['extra']
  /** How long a session that nobody attends and that owes nothing stays in memory; 15 minutes by default. */
  readonly idleUnloadMs?: number | undefined
  /** Hears of what nobody foresaw: our own bugs. Without it they are warnings of the process. */
  readonly onProblem?: OnProblem | undefined
}

/** Opens the runtime, or throws a `HoldfastError` that says why it cannot. */
export async function openHoldfast(options: OpenOptions = {}): Promise<Holdfast> {
  const opened = await open(options)
  if (!opened.ok) throw new HoldfastError(opened.fault)
  return opened.value
}

/** The composition root: the one place that knows every part. Opens all of them or, refusing, leaves none open. */
export async function open(options: OpenOptions): Promise<Result<Holdfast>> {
  const { onProblem = warnOfProblem } = options
  const opened = new AsyncDisposableStack()
  const close = () => opened.disposeAsync()
  const roster = await openRoster({ ...options, onProblem }, opened).catch((cause) => {
    if (cause instanceof HoldfastError) return refuse(cause.toFault())
    onProblem({ where: 'opening', cause })
    return refuse(fault('internal', `Holdfast cannot be opened: ${messageOf(cause)}`))
  })
  if (roster.ok) return ok(createHoldfast(roster.value, close))
  await close().catch((cause) => onProblem({ where: 'closing what was opened', cause }))
  return roster
}

/** What is opened is put on the stack, to be closed in the opposite order. */
async function openRoster(
  options: OpenOptions & { readonly onProblem: OnProblem },
  opened: AsyncDisposableStack,
): Promise<Result<Roster>> {
  const { store: url, mirror, environment = process.env, models: extra, idleUnloadMs, onProblem } = options
  const home = findHome(environment)
  const storage = await openStorage({ url: url ?? `sqlite:${home.storePath}`, mirror, home, onProblem })
  if (!storage.ok) return storage
  const { store, blobs, source } = storage.value
  opened.defer(() => store.close())
  opened.defer(() => storage.value.mirror?.close())
  const requests = source && createRequestThread({ source, here: createRequests(store, blobs), onProblem })
  opened.defer(() => requests?.close())

  const socket = await openSocket(home)
  if (!socket.ok) return socket
  opened.defer(() => socket.value.close())
  await store.registerNode(socket.value.row)
  const memory = createMemory({ userFile: join(home.configDir, 'MEMORY.md'), now: wallClock.now })
  const roster = createRoster({
    store,
    blobs,
    memoryBlobs: createMemoryBlobs(),
    requests: requests ?? undefined,
    images: createImages(),
    models: createModels({ environment, extra }),
    tools: createTools({ environment, memory }),
    instructions: createInstructions({ now: wallClock.now, memory }),
    artefacts: createArtefacts({ now: wallClock.now }),
    clock: wallClock,
    onProblem,
    node: socket.value.row,
    isAlive: isNodeAlive,
    newSessionId,
    newHandle,
    resolveWorkdir,
    defaultModel: defaultModel(environment),
    idleUnloadMs,
  })
  opened.defer(() => roster.close())
  const dead = await roster.settleCrashed()
  await Promise.all(dead.map(({ address }) => removeNodeSocket(address)))
  return ok(roster)
}

/** Without a place to answer from, other processes would take this one for dead. */
async function openSocket({ stateDir }: Home): Promise<Result<NodeSocket>> {
  try {
    return ok(await openNodeSocket(stateDir, wallClock.now()))
  } catch (cause) {
    const message = `The state directory ${stateDir} cannot be used: ${messageOf(cause)}`
    return refuse(fault('storage_error', message, { path: stateDir }))
  }
}

/** A program that listens for no problems still sees them. */
function warnOfProblem({ where, cause }: Problem): void {
  const what = cause instanceof Error ? (cause.stack ?? cause.message) : JSON.stringify(cause)
  process.emitWarning(`${where}: ${what}`, 'HoldfastProblem')
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

type Storage = {
  readonly store: Store
  readonly blobs: Blobs
  /** Where another thread can read them; null when only this process has them. */
  readonly source: RequestSource | null
  readonly mirror: Mirror | null
}

type StorageAsked = {
  readonly url: string
  readonly mirror: string | undefined
  readonly home: Home
  readonly onProblem: OnProblem
}

async function openStorage(asked: StorageAsked): Promise<Result<Storage>> {
  const { url, mirror } = asked
  const kind = url.slice(0, url.indexOf(':') + 1)
  const place = url.slice(kind.length)
  if (kind !== 'sqlite:' && mirror !== undefined) {
    return refuse(fault('bad_request', `Only a SQLite store has a mirror; ${url} is none.`, { store: url, mirror }))
  }
  if (url === 'memory:')
    return ok({ store: createMemoryStore(), blobs: createMemoryBlobs(), source: null, mirror: null })
  if (kind === 'sqlite:') return openSqlite(place, asked)
  if (kind === 'jsonl:' && place !== '') return openJsonl(place, asked)
  const message = `There is no store ${url}. A store is sqlite:PATH, jsonl:DIR or memory:.`
  return refuse(fault('bad_request', message, { store: url }))
}

async function openSqlite(
  path: string,
  { mirror: directory, home, onProblem }: StorageAsked,
): Promise<Result<Storage>> {
  const store = await openSqliteStore({ path })
  if (!store.ok) return store
  // Blobs lie beside the file that refers to them.
  const blobsDir = path === home.storePath ? home.blobsDir : `${path}.blobs`
  const beside = await withBlobs(store.value, blobsDir)
  if (!beside.ok) return beside
  const source = { path, blobsDir }
  if (directory === undefined) return ok({ ...beside.value, source, mirror: null })
  const { blobs } = beside.value
  const mirror = await openMirror({ log: store.value.followed, blobs, directory, now: wallClock.now, onProblem })
  if (mirror.ok) return ok({ ...beside.value, source, mirror: mirror.value })
  await store.value.close()
  return mirror
}

async function openJsonl(directory: string, { onProblem }: StorageAsked): Promise<Result<Storage>> {
  const store = await openJsonlStore({ directory, now: wallClock.now, entryOf: entryOfLog, onProblem })
  if (!store.ok) return store
  const beside = await withBlobs(store.value, join(directory, 'blobs'))
  return beside.ok ? ok({ ...beside.value, source: null, mirror: null }) : beside
}

const entryOfLog: EntryOfLog = async (source, session) => {
  const loaded = await loadSession(source, session)
  return loaded.ok ? loaded.value.row.entry : null
}

/** A store on disk with its blobs. Sessions that are never to be on disk live beside it. */
async function withBlobs(store: PlacedStore, directory: string): Promise<Result<Pick<Storage, 'store' | 'blobs'>>> {
  const blobs = await openFileBlobs(directory)
  if (blobs.ok) return ok({ store: createSplitStore(store, createMemoryStore()), blobs: blobs.value })
  await store.close()
  return blobs
}
