import { rm } from 'node:fs/promises'
import type { Draft, StoredSnapshot } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { snapshotChecksum } from '../../snapshot-checksum.ts'
import type { JsonlPaths } from './layout.ts'
import { readJsonIfExists, readTextIfExists, replaceFile } from './replace-file.ts'

// Each session has at most one draft file and one snapshot file.

type StoredDraft = { readonly head: Seq; readonly draft: Draft }

export const saveDraft = (paths: JsonlPaths, session: SessionId, head: Seq, draft: Draft): Promise<void> =>
  replaceFile(paths.draft(session), `${JSON.stringify({ head, draft })}\n`)

/** Returns the draft, unless it was saved before the batch at `endedAt`, which ended it. */
export async function loadDraft(paths: JsonlPaths, session: SessionId, endedAt: Seq): Promise<Draft | null> {
  const stored = (await readJsonIfExists(paths.draft(session))) as StoredDraft | null // written by us
  return stored === null || stored.head < endedAt ? null : stored.draft
}

/** Removes a draft. Must be durable only if no record says that the draft has ended. */
export async function dropDraft(paths: JsonlPaths, session: SessionId, synced: boolean): Promise<void> {
  const removed = rm(paths.draft(session), { force: true })
  await (synced ? removed.then(() => syncDirectory(paths.drafts)) : removed.catch(() => undefined))
}

/** Writes its metadata on the first line and the body after it. */
export function saveSnapshot(paths: JsonlPaths, session: SessionId, snapshot: StoredSnapshot): Promise<void> {
  const { seq, fold, body } = snapshot
  const first = JSON.stringify({ seq, fold, crc: snapshotChecksum(session, snapshot) })
  return replaceFile(paths.snapshot(session), `${first}\n${body}`)
}

/** Returns the snapshot of this fold version; null if it does not exist or is damaged. */
export async function loadSnapshot(paths: JsonlPaths, session: SessionId, fold: number) {
  const snapshot = await loadAnySnapshot(paths, session)
  return snapshot?.fold === fold ? snapshot : null
}

/** Returns the snapshot of any fold version; null if it does not exist or is damaged. */
export async function loadAnySnapshot(paths: JsonlPaths, session: SessionId): Promise<StoredSnapshot | null> {
  const text = await readTextIfExists(paths.snapshot(session))
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

/** Removes a snapshot that is ahead of its log, for example after an older log was restored. */
export async function dropSnapshotAhead(paths: JsonlPaths, session: SessionId, head: Seq): Promise<void> {
  const snapshot = await loadAnySnapshot(paths, session)
  if (snapshot !== null && snapshot.seq > head) await rm(paths.snapshot(session), { force: true })
}
