import { rm } from 'node:fs/promises'
import type { Draft } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { readJsonIfThere, replaceFile } from './atomic-side-file.ts'
import type { Places } from './layout.ts'

type StoredDraft = { readonly head: Seq; readonly draft: Draft }

/** The text of running answers, one file for each session. */
export interface DraftFiles {
  save(session: SessionId, head: Seq, draft: Draft): Promise<void>
  /** The draft, unless it is of a batch that began after it was saved. */
  load(session: SessionId, endedAt: Seq): Promise<Draft | null>
  /** Removes it. Only where no record says that it is over must this be durable. */
  drop(session: SessionId, synced: boolean): Promise<void>
}

export function createDraftFiles(places: Places): DraftFiles {
  return {
    save: (session, head, draft) => replaceFile(places.draft(session), `${JSON.stringify({ head, draft })}\n`),
    async load(session, endedAt) {
      const stored = (await readJsonIfThere(places.draft(session))) as StoredDraft | null // written by us
      return stored === null || stored.head < endedAt ? null : stored.draft
    },
    async drop(session, synced) {
      const removed = rm(places.draft(session), { force: true })
      // A record that says it is over is believed, whatever becomes of the file.
      await (synced ? removed.then(() => syncDirectory(places.drafts)) : removed.catch(() => undefined))
    },
  }
}
