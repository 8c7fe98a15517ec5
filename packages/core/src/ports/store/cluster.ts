import type { SessionId } from '@holdfast/protocol'
import type { NodeRow } from './lease.ts'

/** A folder that a node serves. Nodes that serve a folder under the same label have the same files there. */
export type ServedFolder = { readonly label: string; readonly path: string }

/** A node as it joins a cluster. */
export type ClusterNode = NodeRow & {
  /** Proves to this node that a request comes from a process that can read the store. Never shown. */
  readonly key: string
  /** The folders that other nodes have too, then those of this machine. */
  readonly serves: readonly ServedFolder[]
}

/**
 * What a store for several machines adds to `Leases`. A node has a term by the clock of the store, and renews it. It lives
 * while its term has not ended; only then can another node take over its sessions.
 */
export interface Cluster {
  /** How long a term lasts. */
  readonly termMs: number
  /** Registers a node, also again, and begins its term. */
  join(node: ClusterNode): Promise<void>
  /** Begins the next term of a node. False: the last one had ended, or the node was removed. */
  renew(id: string): Promise<boolean>
  /** Marks a node that is about to stop: it claims no session that it does not own. */
  drain(id: string): Promise<void>
  /** Returns the key of a node; null if it is not registered. */
  keyOf(id: string): Promise<string | null>
  /**
   * Returns the node that has to run a session: its live owner, that of the session it was started for, or one that serves
   * its folder. Null: the node `here`, or none, which `claim` explains.
   */
  place(session: SessionId, here: string): Promise<string | null>
  /**
   * Returns the other live nodes that were told to serve a folder, and do not drain. That a node has all folders of its own
   * machine does not count.
   */
  serving(path: string, here: string): Promise<readonly NodeRow[]>
  /** Follows the sessions whose rows any node changed: at least once each, in no order. Ends with the signal. */
  changes(signal: AbortSignal): AsyncIterable<readonly SessionId[]>
}
