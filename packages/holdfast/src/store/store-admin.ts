import type { CatalogueEntry } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import type { Finding } from './finding.ts'

/** A session whose row, lost records or owner have to be set right, and what is right. */
export type SessionRepair = {
  readonly session: SessionId
  /** Its row as the log tells it. */
  readonly entry: CatalogueEntry
  /** Records that a person gives up by asking for the repair. */
  readonly lost: readonly Seq[]
  readonly dropsSnapshot: boolean
  readonly owner: string | null
}

/** Where what is damaged is kept before it is mended. Nothing in it is ever read or removed by us. */
export interface Quarantine {
  /** Moves a file there. */
  move(path: string): Promise<void>
  /** Copies a file there as it is. */
  copy(path: string): Promise<void>
  /** Keeps a text that is about to be replaced. */
  note(name: string, text: string): Promise<void>
}

/** What can be mended of what was found. */
export type ToRepair = { readonly findings: readonly Finding[]; readonly mends: readonly SessionRepair[] }

/** What only a store on disk knows of its own files: how they are checked, mended and copied. */
export interface StoreAdmin {
  /** A directory that whoever opens the store leaves alone. */
  readonly quarantineDir: string
  /** What is wrong with its files, also where it cannot be opened. `isHeld` while another process has it. Changes nothing. */
  checkFiles(isHeld: boolean): Promise<readonly Finding[]>
  /** Where what it holds beside the logs contradicts itself. Changes nothing. */
  checkInside(): readonly Finding[]
  /** Mends what no append can, before the store is opened. Nobody else has it. */
  mend(found: ToRepair, quarantine: Quarantine): Promise<void>
  /** Makes anew what is taken from the logs, once they are right. */
  mendIndexes(findings: readonly Finding[]): Promise<void>
  /** Copies it as it is at one moment to a path where nothing is, whoever writes in it; the copy is private, and nobody's. */
  copyTo(path: string): Promise<void>
}
