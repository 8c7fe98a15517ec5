import { createSession, type Session } from '@holdfast/client'
import { createLocalHandle, createLocalSessions, createRoster, findByKey, type NodeParts } from '@holdfast/core'
import type { Blobs, Store } from '@holdfast/core/ports'
import {
  fault,
  HoldfastError,
  Key,
  type ListOptions,
  ok,
  orThrow,
  type Result,
  refuse,
  type SessionList,
  type Sessions,
  type StartOptions,
} from '@holdfast/protocol'
import { type Environment, findHome, type Home } from './home.ts'
import { newHandle } from './identity/handle.ts'
import { newSessionId } from './identity/session-id.ts'
import { createInstructions } from './instructions/instructions.ts'
import { isNodeAlive, openNodeSocket, removeNodeSocket } from './node/node-socket.ts'
import { createModels, defaultModel, type ModelsParts } from './providers/models.ts'
import { openFileBlobs } from './store/blobs/file-blobs.ts'
import { createMemoryBlobs } from './store/blobs/memory-blobs.ts'
import { createMemoryStore } from './store/memory/memory-store.ts'
import { openSqliteStore } from './store/sqlite/sqlite-store.ts'
import { createTools } from './tools/tools.ts'
import { wallClock } from './wall-clock.ts'
import { resolveWorkdir } from './workdir.ts'

export type OpenOptions = {
  /** `sqlite:PATH` or `memory:`; by default the SQLite file of the user's data directory. */
  readonly store?: string | undefined
  /** Where credentials, paths and options come from; the process's own by default. */
  readonly environment?: Environment | undefined
  /** Models the program brings: any AI SDK model object, by the name people will use. */
  readonly models?: ModelsParts['extra']
  /** Hears of what nobody foresaw: our own bugs. */
  readonly report?: NodeParts['report'] | undefined
}

/** The runtime in this process. Method names are the ones people know; refusals throw `HoldfastError`. */
export interface Holdfast extends AsyncDisposable {
  /** The same sessions as values and results, for whoever stands at a door: server, CLI. */
  readonly sessions: Sessions
  startSession(options: Partial<StartOptions>): Promise<Session>
  /** By id, a unique prefix of it, or handle. */
  getSession(name: string): Promise<Session>
  /** The session with this key, started if there is none. */
  getOrCreate(key: string, options?: Partial<StartOptions>): Promise<Session>
  /** The sessions awake in this process, with their metadata. */
  listSessions(): readonly { readonly session: Session; readonly metadata: SessionList['sessions'][number] }[]
  /** The stored sessions, newest activity first. */
  list(options?: ListOptions): Promise<SessionList>
  sendPrompt(name: string, content: string): Promise<unknown>
  abort(name: string): Promise<unknown>
  stopSession(name: string): Promise<void>
  close(): Promise<void>
}

/** Opens the runtime, or throws a `HoldfastError` that says why it cannot. */
export async function openHoldfast(options: OpenOptions = {}): Promise<Holdfast> {
  const opened = await open(options)
  if (!opened.ok) throw new HoldfastError(opened.fault)
  return opened.value
}

/** The composition root: the one place that knows every part. */
export async function open(options: OpenOptions): Promise<Result<Holdfast>> {
  const { environment = process.env, models: extra, report = () => undefined } = options
  const home = findHome(environment)
  const storage = await openStorage(options.store ?? `sqlite:${home.storePath}`, home)
  if (!storage.ok) return storage
  const { store, blobs } = storage.value

  const socket = await openNodeSocket(home.stateDir, wallClock.now())
  await store.registerNode(socket.row)
  const roster = createRoster({
    store,
    blobs,
    models: createModels({ environment, extra }),
    tools: createTools({ environment }),
    instructions: createInstructions({ now: wallClock.now }),
    clock: wallClock,
    report,
    node: socket.row,
    isAlive: isNodeAlive,
    newSessionId,
    newHandle,
    resolveWorkdir,
    defaultModel: defaultModel(environment),
  })
  const gone = (await roster.settleCrashed()).map(({ address }) => removeNodeSocket(address))
  await Promise.all(gone)

  const sessions = createLocalSessions(roster)
  const getSession = async (name: string) => createSession(orThrow(await sessions.open(name)))
  const startSession = async (given: Partial<StartOptions>) =>
    createSession(orThrow(await sessions.start({ workdir: '.', ...given })))
  const close = async () => {
    await roster.close()
    await socket.close()
    await store.close()
  }

  return ok({
    sessions,
    startSession,
    getSession,
    async getOrCreate(key, given = {}) {
      const known = orThrow(await findByKey(store, key))
      if (known) return createSession(createLocalHandle(roster, known))
      const started = await sessions.start({ workdir: '.', ...given, key: Key.parse(key) })
      // Someone else may have started it meanwhile: then theirs is the one.
      if (!started.ok && started.fault.code === 'key_taken') {
        const theirs = orThrow(await findByKey(store, key))
        if (theirs) return createSession(createLocalHandle(roster, theirs))
      }
      return createSession(orThrow(started))
    },
    listSessions: () =>
      roster.all().map(({ id, folded }) => ({
        session: createSession(createLocalHandle(roster, id)),
        metadata: folded().row.entry.meta,
      })),
    list: async (asked) => orThrow(await sessions.list(asked)),
    sendPrompt: async (name, content) => (await getSession(name)).sendPrompt(content),
    abort: async (name) => (await getSession(name)).abort(),
    stopSession: async (name) => roster.rest((await getSession(name)).id),
    close,
    [Symbol.asyncDispose]: close,
  })
}

async function openStorage(url: string, home: Home): Promise<Result<{ readonly store: Store; readonly blobs: Blobs }>> {
  if (url === 'memory:') return ok({ store: createMemoryStore(), blobs: createMemoryBlobs() })
  if (!url.startsWith('sqlite:')) {
    return refuse(fault('bad_request', `There is no store ${url}. A store is sqlite:PATH or memory:.`, { store: url }))
  }
  const path = url.slice('sqlite:'.length)
  const store = await openSqliteStore({ path })
  if (!store.ok) return store
  // Blobs lie beside the file that refers to them.
  const blobs = await openFileBlobs(path === home.storePath ? home.blobsDir : `${path}.blobs`)
  if (blobs.ok) return ok({ store: store.value, blobs: blobs.value })
  await store.value.close()
  return blobs
}
