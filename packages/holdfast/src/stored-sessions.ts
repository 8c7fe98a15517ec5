import { dirname, resolve } from 'node:path'
import { type ClientEventOptions, createSession, type Session } from '@holdfast/client'
import { createLocalSession, findSession, openStoredHandle, type SessionRegistry } from '@holdfast/core'
import { type ClientEvent, fault, HoldfastError, type Meta, orThrow, refuse } from '@holdfast/protocol'
import type { StoreLocation } from './store/open/store-location.ts'
import type { Home } from './system/home.ts'

/** A session as it stood when it was read. It can be looked at and asked nothing. */
export type LoadedSession = Pick<
  Session,
  | ('id' | 'messages' | 'messagesWithIds' | 'metadata' | 'usage' | 'status' | 'persist' | 'getProvider')
  | ('listBranches' | 'pinnedIds' | 'getSummary' | 'getQueuedMessages' | 'clientEventsComplete')
>

type Named = string | Pick<Session, 'id'>

/** What a program may ask of the store itself. */
export interface StoredSessions {
  /** Resolves when all that was done to the session is on disk, which it is once it was answered; rejects while the store refuses. */
  save(session: Named): Promise<void>
  /** Reads a session, and neither wakes nor claims it: whoever runs it is not disturbed. */
  load(name: string): Promise<LoadedSession>
  /** The folder the store lies in; null for one in memory. */
  dir(): string | null
  /** The folder it lies in when nobody says otherwise. */
  defaultDir(): string
  /** The same real path for every way to write it: links followed, no slash at its end. One that is not there keeps its name. */
  normalizeWorkspacePath(path: string): Promise<string>
  /** That of the folder this process stands in. */
  currentWorkspacePath(): Promise<string>
  /** What a list shows of a session; null, and nothing is written, where nobody has spoken in it. */
  ensureMeta(name: string): Promise<Meta | null>
  /** Whether a person has ever said something in it, on whatever line. */
  hasUserInteraction(session: Named): Promise<boolean>
  /** Keeps an event of a client's own for other clients: once for each `eventId`, never sent to a model. */
  appendClientEvent(name: string, event: ClientEvent, options?: ClientEventOptions): Promise<void>
}

type Parts = {
  readonly registry: SessionRegistry
  readonly getSession: (name: string) => Promise<Session>
  readonly place: StoreLocation
  readonly home: Pick<Home, 'dataDir'>
}

export function createStoredSessions({ registry, getSession, place, home }: Parts): StoredSessions {
  const { store, isAlive, resolveWorkdir } = registry.parts
  const idOf = async (session: Named) =>
    typeof session === 'string' ? orThrow(await findSession(store, session)) : session.id
  const normalizeWorkspacePath = async (path: string) => {
    const real = await resolveWorkdir(path)
    return real.ok ? real.value : resolve(path)
  }

  return {
    normalizeWorkspacePath,
    currentWorkspacePath: () => normalizeWorkspacePath('.'),
    dir: () => (place.kind === 'memory' ? null : place.kind === 'jsonl' ? place.path : dirname(place.path)),
    defaultDir: () => home.dataDir,
    async save(session) {
      const id = await idOf(session)
      // One that is asleep here has nothing under way: what it was told, it was told on disk.
      if (registry.awake(id)?.storageError()) throw new HoldfastError(fault('storage_error', refusing, { session: id }))
    },
    async load(name) {
      const stored = orThrow(await openStoredHandle(store, orThrow(await findSession(store, name)), isAlive))
      const { models, treeUsage } = createLocalSession(registry, stored.id) // neither wakes it
      return createSession({
        ...stored,
        models,
        treeUsage,
        submit: async () => refuse(readOnly),
        subscribe: () => {
          throw new HoldfastError(readOnly)
        },
        blob: async () => refuse(readOnly),
      })
    },
    async ensureMeta(name) {
      const row = await store.entry(await idOf(name))
      return row?.entry.spoken ? row.entry.meta : null
    },
    async hasUserInteraction(session) {
      const said = await store.read(await idOf(session), { after: 0, limit: 1, types: ['user.said'] })
      return said.some((record) => !('lost' in record))
    },
    appendClientEvent: async (name, event, options) => (await getSession(name)).appendClientEvent(event, options),
  }
}

const readOnly = fault('session_stopped', 'This session was only read. Get it with getSession to go on with it.')

const refusing = 'The store refuses what the session writes. Make room for it, or mend it; it is tried again by itself.'
