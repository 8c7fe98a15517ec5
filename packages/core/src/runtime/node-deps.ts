import type { Settings } from '@holdfast/protocol'
import type { NodeRow } from '../ports/lease.ts'
import type { RuntimeDeps } from './dependencies.ts'

/** What a node brings beside its adapters: its name, and what only the world can tell. */
export type NodeDeps = RuntimeDeps & {
  readonly node: NodeRow
  /** Whether a registered node still answers. */
  readonly isAlive: (node: NodeRow) => Promise<boolean>
  /** A handle nobody is likely to have; `attempt` grows while they do. */
  readonly newHandle: (attempt: number) => string
  /** Names the sessions that nobody named, after their first turn; nobody does when absent. */
  readonly titleModel?: Settings['model'] | undefined
  /** How long a session that owes nothing stays in memory; `limits.idleUnloadMs` when absent. */
  readonly idleUnloadMs?: number | undefined
}
