import { rm } from 'node:fs/promises'
import type { Draft, StoredSnapshot } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { snapshotChecksum } from '../../snapshot-checksum.ts'
import { readJsonIfExists, readTextIfExists, replaceFile } from './atomic-file.ts'
import type { JsonlPaths } from './layout.ts'

/** Stored folds, one file for each session: what it is on the first line, its body on the second. */
export interface SnapshotFiles {
  save(session: SessionId, snapshot: StoredSnapshot): Promise<void>
  load(session: SessionId): Promise<StoredSnapshot | null>
  /** Removes one that is ahead of its log, as after an older copy of the log was put back. */
  dropAhead(session: SessionId, head: Seq): Promise<void>
}

export function createSnapshotFiles(places: JsonlPaths): SnapshotFiles {
  async function load(session: SessionId): Promise<StoredSnapshot | null> {
    const text = await readTextIfExists(places.snapshot(session))
    const end = text?.indexOf('\n') ?? -1
    if (text === null || end === -1) return null
    try {
      const { seq, fold, crc } = JSON.parse(text.slice(0, end))
      const snapshot = { seq, fold, body: text.slice(end + 1) }
      return snapshotChecksum(session, snapshot) === crc ? snapshot : null
    } catch {
      return null
    }
  }

  return {
    load,
    save(session, snapshot) {
      const { seq, fold, body } = snapshot
      const first = JSON.stringify({ seq, fold, crc: snapshotChecksum(session, snapshot) })
      return replaceFile(places.snapshot(session), `${first}\n${body}`)
    },
    async dropAhead(session, head) {
      const snapshot = await load(session)
      if (snapshot !== null && snapshot.seq > head) await rm(places.snapshot(session), { force: true })
    },
  }
}

type StoredDraft = { readonly head: Seq; readonly draft: Draft }

/** The text of running answers, one file for each session. */
export interface DraftFiles {
  save(session: SessionId, head: Seq, draft: Draft): Promise<void>
  /** The draft, unless it is of a batch that began after it was saved. */
  load(session: SessionId, endedAt: Seq): Promise<Draft | null>
  /** Removes it. Only where no record says that it is over must this be durable. */
  drop(session: SessionId, synced: boolean): Promise<void>
}

export function createDraftFiles(places: JsonlPaths): DraftFiles {
  return {
    save: (session, head, draft) => replaceFile(places.draft(session), `${JSON.stringify({ head, draft })}\n`),
    async load(session, endedAt) {
      const stored = (await readJsonIfExists(places.draft(session))) as StoredDraft | null // written by us
      return stored === null || stored.head < endedAt ? null : stored.draft
    },
    async drop(session, synced) {
      const removed = rm(places.draft(session), { force: true })
      // A record that says it is over is believed, whatever becomes of the file.
      await (synced ? removed.then(() => syncDirectory(places.drafts)) : removed.catch(() => undefined))
    },
  }
}
