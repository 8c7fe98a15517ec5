import type { Meta, Result, Seq, SessionId } from '@holdfast/protocol'
import type { Listed } from './catalogue.ts'

/** A process that runs sessions, and the address where it answers while it is alive. */
export type NodeRow = {
  /** Its id, which it never shares with another process. */
  readonly id: string
  /** A path of a socket, or a URL. */
  readonly address: string
  /** When it started. */
  readonly startedAt: string
  /** Whether its term has not ended, by the clock of the store. Absent: it has no term, and lives while it answers. */
  readonly isLive?: boolean | undefined
}

/** What the owner of a session gets: the epoch for its appends, the last seq, and the base of a fork. */
export type Lease = { readonly epoch: number; readonly head: Seq; readonly base: Seq }

/** Each session has one owner. Taking over raises the epoch, so that the store refuses appends of the former owner. */
export interface Leases {
  /** Adds a running process to the nodes. */
  registerNode(node: NodeRow): Promise<void>
  /** Returns the registered nodes that have not left; some may be dead. */
  nodes(): Promise<readonly NodeRow[]>
  /**
   * Removes a process that has ended. Does nothing if it is not registered. `ended`: another process takes it for dead. If it has
   * a term that has not ended, as after it joined again meanwhile, it stays.
   */
  removeNode(id: string, why?: 'ended'): Promise<void>
  /**
   * Makes `owner` the session's owner, provided it has none, is already owned by it, or its owner is `takeFrom`.
   * Refused: session_locked {node}, session_not_found, session_trashed, workdir_elsewhere.
   */
  claim(session: SessionId, owner: string, takeFrom: string | null): Promise<Result<Lease>>
  /** Releases the session if `owner` still holds it at `epoch`. */
  release(session: SessionId, owner: string, epoch: number): Promise<void>
}

/** A row of a list with its owner. */
export type Owned = Pick<Listed, 'meta' | 'busy' | 'owner'>

// Among the ports because `ls` needs it and starts without the rest of core.

/** Returns the owners of busy rows: only these have to be asked whether they are alive. */
export const busyOwners = (rows: readonly Owned[]): ReadonlySet<string> =>
  new Set(rows.flatMap(({ busy, owner }) => (busy && owner !== null ? [owner] : [])))

/** Shows busy sessions with a dead owner as interrupted. */
export const ownedStatus = (rows: readonly Owned[], alive: ReadonlySet<string>): readonly Meta[] =>
  rows.map(({ meta, busy, owner }) =>
    busy && (owner === null || !alive.has(owner)) ? { ...meta, status: 'interrupted' } : meta,
  )
