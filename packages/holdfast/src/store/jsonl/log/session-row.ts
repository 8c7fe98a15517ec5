import type { CatalogueEntry } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'

/** A session as the store holds it in memory: what a list shows, who may append, and where its log stands. */
export type SessionRow = {
  readonly id: SessionId
  /** Counts sessions in the order of their birth. */
  readonly order: number
  readonly parent: SessionId | null
  readonly base: Seq
  head: Seq
  /** How much of its file is acknowledged. */
  bytes: number
  epoch: number
  owner: string | null
  entry: CatalogueEntry
  /** Its file says so, not the catalogue. */
  trashedAt: number | null
  /** Removed, but for what its forks share; found by nobody. */
  isShared: boolean
}
