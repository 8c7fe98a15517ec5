import { rm } from 'node:fs/promises'
import type { StoredSnapshot } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import { snapshotChecksum } from '../../snapshot-checksum.ts'
import { readIfThere, replaceFile } from './atomic-side-file.ts'
import type { Places } from './layout.ts'

/** Stored folds, one file for each session: what it is on the first line, its body on the second. */
export interface SnapshotFiles {
  save(session: SessionId, snapshot: StoredSnapshot): Promise<void>
  load(session: SessionId): Promise<StoredSnapshot | null>
  /** Removes one that is ahead of its log, as after an older copy of the log was put back. */
  dropAhead(session: SessionId, head: Seq): Promise<void>
}

export function createSnapshotFiles(places: Places): SnapshotFiles {
  async function load(session: SessionId): Promise<StoredSnapshot | null> {
    const text = await readIfThere(places.snapshot(session))
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
