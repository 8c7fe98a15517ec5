import type { NodeDeps, SessionRegistry } from '@holdfast/core'
import type { OnProblem } from '@holdfast/core/ports'
import type { CheckBearer } from './check-bearer.ts'

/** This process as a node: what the runtime needs of it, and how it is known to others. */
export interface OwnNode {
  /** What the registry is created with. */
  readonly deps: Pick<NodeDeps, 'node' | 'isAlive' | 'reach' | 'forgetNode' | 'cluster'>
  /** Makes this process known to others. */
  join(): Promise<void>
  /** Serves the sessions of the registry to other nodes. Returns what stops that. */
  serve(registry: SessionRegistry, onProblem: OnProblem, checkBearer: CheckBearer): { close(): void }
  /** Hands all sessions over to other nodes, until `signal` aborts. Does nothing for a node that has no others. */
  drain(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}
