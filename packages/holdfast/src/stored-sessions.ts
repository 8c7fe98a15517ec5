import { dirname } from 'node:path'
import { createSession, type Session, type SessionOrName } from '@holdfast/client'
import { createLocalSession, findSession, findWorkspace, openStoredHandle, type SessionRegistry } from '@holdfast/core'
import { fault, HoldfastError, ok, orThrow, parseFolder, refuse, SessionId } from '@holdfast/protocol'
import { isOnDisk, type StoreLocation } from './store/open/store-location.ts'
import type { Home } from './system/home.ts'

/** A session as it was when it was read. It accepts no commands. */
export type LoadedSession = Pick<
  Session,
  | ('id' | 'messages' | 'messagesWithIds' | 'metadata' | 'usage' | 'status' | 'isPersistent' | 'getProvider')
  | ('listBranches' | 'pinnedIds' | 'getSummary' | 'getQueuedMessages' | 'clientEvents' | 'clientEventsComplete')
>

/** Reads and paths of the store. */
export interface StoredSessions {
  /** Reads a session without loading or claiming it. */
  load(name: string): Promise<LoadedSession>
  /** Returns the folder of the store; null for one in memory or of your own. */
  dir(): string | null
  /** Returns the default folder of the store. */
  defaultDir(): string
  /** Returns the real path: links resolved, no slash at the end. A missing folder keeps its path. */
  normalizeWorkspacePath(path: string): Promise<string>
  /** Returns the real path of the current directory. */
  currentWorkspacePath(): Promise<string>
  /** Returns whether the session has a message of a person, on any branch. */
  hasUserInteraction(session: SessionOrName): Promise<boolean>
}

type StoredSessionsDeps = {
  readonly registry: SessionRegistry
  readonly location: StoreLocation
  readonly home: Pick<Home, 'dataDir'>
}

export function createStoredSessions({ registry, location, home }: StoredSessionsDeps): StoredSessions {
  const { isAlive } = registry.deps
  const { stores } = registry
  const idOf = async (session: SessionOrName) =>
    typeof session === 'string' ? orThrow(await findSession(stores, session)) : idOfObject(session)
  const normalizeWorkspacePath = async (path: string) => findWorkspace(registry.deps, orThrow(parseFolder(path)) || '.')

  return {
    normalizeWorkspacePath,
    currentWorkspacePath: () => normalizeWorkspacePath('.'),
    dir() {
      if (location.kind === 'memory' || location.kind === 'own' || !isOnDisk(location)) return null
      return location.kind === 'jsonl' ? location.path : dirname(location.path)
    },
    defaultDir: () => home.dataDir,
    async load(name) {
      const id = await idOf(name)
      const stored = orThrow(await openStoredHandle(stores.storeOf(id), id, isAlive, registry.deps.models))
      return createSession({
        ...createLocalSession(registry, id), // only for reads that load nothing, such as `diffChanges`
        ...stored,
        backgroundShells: async () => ok([]),
        submit: async () => refuse(readOnly),
        attach: async () => refuse(readOnly),
        subscribe: () => {
          throw new HoldfastError(readOnly)
        },
        blob: async () => refuse(readOnly),
      })
    },
    async hasUserInteraction(session) {
      const id = await idOf(session)
      const said = await stores.storeOf(id).read(id, { after: 0, limit: 1, types: ['user.said'] })
      return said.some((record) => !('lost' in record))
    },
  }
}

/** Returns the id of a session object. Refused: bad_id. */
function idOfObject(session: Pick<Session, 'id'>): Session['id'] {
  if (typeof session === 'object' && session !== null && SessionId.safeParse(session.id).success) return session.id
  throw new HoldfastError(fault('bad_id', 'Give a session, or its id, the beginning of its id or its handle.'))
}

const readOnlySentence = 'This session was loaded for reading only. Use getSession to send it commands.'
const readOnly = fault('session_stopped', readOnlySentence)
