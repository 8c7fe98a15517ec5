import type { Meta, Result, SessionId } from '@holdfast/protocol'
import type { Lease } from '../../ports/store/lease.ts'
import type { RunInBackground } from '../background-tasks.ts'
import type { NodeDeps } from '../dependencies.ts'
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
  /** The leases of empty sessions that left memory because nobody used them. They are removed when they stop. */
  readonly resting: Map<SessionId, Lease>
  readonly mutex: ReturnType<typeof createKeyedMutex<SessionId>>
  readonly inBackground: RunInBackground
  readonly storageHealth: StorageHealth
  readonly crashLoopGuard: ReturnType<typeof createCrashLoopGuard>
  readonly subagents: SubagentRegistry
  /** Called after each change of a session. */
  readonly watchers: ReturnType<typeof createWatchers>
  isClosing: boolean
  /** Whether this node lost its place in the cluster: it loads nothing until it has it again. */
  isSuspended: boolean
  /** Whether this node hands its sessions over, because it is about to stop. */
  isDraining: boolean
}

/** Adds what no record of the session holds: its clients, and the approvals that its subagents wait for. */
export function withAttachments({ loaded, subagents }: RegistryState, meta: Meta): Meta {
  const below = loaded.has(meta.id) ? subagents.below(meta.id) : []
  const waiting = below.reduce((sum, { pendingApprovals }) => sum + pendingApprovals.length, meta.waiting ?? 0)
  const attachments = loaded.get(meta.id)?.runner.hub.attached ?? 0
  return { ...meta, ...(waiting > 0 && { waiting }), attachments }
}
