import type { Result, Seq, SessionId } from '@holdfast/protocol'

/** A process that runs sessions, and where it answers if it lives. */
export type NodeRow = { readonly id: string; readonly address: string; readonly startedAt: string }

export type Lease = { readonly epoch: number; readonly head: Seq; readonly base: Seq }

/** One owner at a time. Taking over raises the epoch, so that the former owner's appends are refused by the store itself. */
export interface Leases {
  registerNode(node: NodeRow): Promise<void>
  /** The nodes that registered and have not left; some may be dead. */
  nodes(): Promise<readonly NodeRow[]>
  removeNode(id: string): Promise<void>
  /**
   * Makes `owner` the session's owner, provided it has none, is already owned by it, or its owner is `takeFrom`.
   * Refused: session_locked {node}, session_not_found, session_trashed.
   */
  claim(session: SessionId, owner: string, takeFrom: string | null): Promise<Result<Lease>>
  /** Gives the session up, provided `owner` still holds it at `epoch`. */
  release(session: SessionId, owner: string, epoch: number): Promise<void>
}
