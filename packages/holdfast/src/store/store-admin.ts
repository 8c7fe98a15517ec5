import type { CatalogueEntry } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import type { Finding } from './finding.ts'

/** A session to repair, with the correct values. */
export type SessionRepair = {
  readonly session: SessionId
  /** Its row, computed from the log. */
  readonly entry: CatalogueEntry
  /** The lost records that the repair gives up. */
  readonly lost: readonly Seq[]
  readonly dropsSnapshot: boolean
  readonly owner: string | null
}

/** A session that cannot be opened, because its first record is lost. A repair removes it and keeps what is left of it. */
export type SessionRemoval = Pick<SessionRepair, 'session' | 'owner'>

/** Stores damaged data before it is repaired. Holdfast never reads or removes anything in it. */
export interface Quarantine {
  /** Moves a file into the quarantine. */
  move(path: string): Promise<void>
  /** Copies a file into the quarantine. */
  copy(path: string): Promise<void>
  /** Saves a text that is about to be replaced or removed. */
  note(name: string, text: string | Iterable<string>): Promise<void>
}

/** The findings that can be repaired. */
export type ToRepair = {
  readonly findings: readonly Finding[]
  readonly repairs: readonly SessionRepair[]
  readonly removals: readonly SessionRemoval[]
}

/** Checks, repairs and copies the files of a store. */
export interface StoreAdmin {
  /** Opening the store never touches this directory. */
  readonly quarantineDir: string
  /** Checks the files, even of a store that cannot be opened. `isHeld`: another process has it open. Changes nothing. */
  checkFiles(isHeld: boolean): Promise<readonly Finding[]>
  /** Checks the data beside the logs for contradictions. Changes nothing. */
  checkInside(): readonly Finding[]
  /** Returns whether a repair must rebuild the files: parts of them cannot be read. Changes nothing. */
  hasDamagedPages(): boolean
  /**
   * Writes everything that can be read of a damaged store to a new store. Returns what is wrong and what is missing, in
   * words; null, without a copy, if nothing can be read. Changes nothing else.
   */
  copyReadableTo(path: string): Promise<Pick<Finding, 'what' | 'loss'> | null>
  /** Copies the files of a damaged store to the quarantine. */
  saveDamaged(quarantine: Quarantine): Promise<void>
  /** Replaces a damaged store with a repaired copy. Refused, without a change, while another process has the store open. */
  replaceWith(copy: string): Promise<void>
  /**
   * Returns the newest copy that was saved when the open store lost its file, if the file is still missing, or is no store
   * and has nothing that the copy lacks; null otherwise. Changes nothing.
   */
  findReplacement(): Promise<string | null>
  /** Moves such a copy to the place of the store, and what is there to the quarantine. The caller has exclusive use of both. */
  putBack(saved: string, quarantine: Quarantine): Promise<void>
  /**
   * Repairs what an append cannot, before the store is opened, and saves the sessions that are removed next. The caller has
   * exclusive use of the store.
   */
  repair(found: ToRepair, quarantine: Quarantine): Promise<void>
  /** Rebuilds the data that is derived from the logs, after their repair. */
  rebuildIndexes(findings: readonly Finding[]): Promise<void>
  /** Copies a consistent snapshot to a new path, even during writes. The copy is private, and its sessions have no owner. */
  copyTo(path: string): Promise<void>
}
