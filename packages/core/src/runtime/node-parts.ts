import type { Result, Settings } from '@holdfast/protocol'
import type { NodeRow } from '../ports/lease.ts'
import type { RuntimeParts } from './effect/parts.ts'

/** What a node brings beside its adapters: its name, and what only the world can tell. */
export type NodeParts = RuntimeParts & {
  readonly node: NodeRow
  /** Whether a registered node still answers. */
  readonly isAlive: (node: NodeRow) => Promise<boolean>
  /** A handle nobody is likely to have; `attempt` grows while they do. */
  readonly newHandle: (attempt: number) => string
  /** The real path of a directory that exists. Refused: bad_workdir. */
  readonly resolveWorkdir: (path: string) => Promise<Result<string>>
  readonly defaultModel: Settings['model']
  /** How long a session that owes nothing stays in memory; `limits.idleUnloadMs` when absent. */
  readonly idleUnloadMs?: number | undefined
}
