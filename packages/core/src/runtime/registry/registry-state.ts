import type { Result, SessionId } from '@holdfast/protocol'
import type { Lease } from '../../ports/store/lease.ts'
import type { RunInBackground } from '../background-tasks.ts'
import type { NodeDeps, RecentRecords } from '../dependencies.ts'
import type { SessionRunner } from '../runner/session-runner.ts'
import type { StorageHealth } from '../storage-health.ts'
import type { SubagentRegistry } from '../subagents/subagents.ts'
import type { createCrashLoopGuard } from './crash-loop-guard.ts'
import type { createKeyedMutex } from './keyed-mutex.ts'
import type { Owners } from './owners.ts'
import type { SessionNewsFeed } from './session-news.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { SessionStores } from './session-stores.ts'
import type { createWatchers } from './watchers.ts'

/** A loaded session with its lease. */
export type LoadedRunner = { readonly runner: SessionRunner; readonly lease: Lease }

/** The sessions of this process, by what happens to them now, and the parts that the functions of the registry share. */
export type RegistryState = {
  readonly deps: NodeDeps
  readonly stores: SessionStores
  readonly news: SessionNewsFeed
  readonly followAllNews: SessionRegistry['followAllNews']
  readonly owners: Owners
  readonly loaded: Map<SessionId, LoadedRunner>
  readonly loading: Map<SessionId, Promise<Result<SessionRunner>>>
  readonly unloading: Map<SessionId, Promise<void>>
  readonly mutex: ReturnType<typeof createKeyedMutex<SessionId>>
  readonly inBackground: RunInBackground
  readonly storageHealth: StorageHealth
  readonly recent: RecentRecords
  readonly crashLoopGuard: ReturnType<typeof createCrashLoopGuard>
  readonly subagents: SubagentRegistry
  /** Called after each change of a session. */
  readonly watchers: ReturnType<typeof createWatchers>
  isClosing: boolean
}
