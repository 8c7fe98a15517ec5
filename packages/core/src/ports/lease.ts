import type { Meta, Result, Seq, SessionId } from '@holdfast/protocol'
import type { Listed } from './catalogue.ts'

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

type Owned = Pick<Listed, 'meta' | 'busy' | 'owner'>

// Among the ports because every reader of a catalogue needs it, `ls` too, which starts without the rest of core.

/** The owners whose word a list depends on: nobody else need be asked whether they live. */
export const busyOwners = (rows: readonly Owned[]): ReadonlySet<string> =>
  new Set(rows.flatMap(({ busy, owner }) => (busy && owner !== null ? [owner] : [])))

/** Does not believe the dead: what says busy and has no living owner is shown as interrupted. */
export const ownedStatus = (rows: readonly Owned[], living: ReadonlySet<string>): readonly Meta[] =>
  rows.map(({ meta, busy, owner }) =>
    busy && (owner === null || !living.has(owner)) ? { ...meta, status: 'interrupted' } : meta,
  )
