import { limits, type Seq, type SessionId } from '@holdfast/protocol'
import type { Snapshots } from '../../ports/store.ts'
import type { RunInBackground } from '../background-tasks.ts'
import { type Folded, toSnapshot } from '../log/load-session.ts'

/** Stores the folds now and then, so that the next wake is quick. Losing one costs time, never data. */
export interface SnapshotAutosave {
  /** Saves in the background once enough has happened since the last one. */
  look(folded: Folded): void
  /** Saves what the last one lacks. Throws when the store does. */
  finish(folded: Folded): Promise<void>
}

export function createSnapshotAutosave(
  id: SessionId,
  { saveSnapshot }: Pick<Snapshots, 'saveSnapshot'>,
  storedSeq: Seq,
  inBackground: RunInBackground,
): SnapshotAutosave {
  let savedSeq = storedSeq
  const save = (folded: Folded) => {
    savedSeq = folded.state.seq
    return saveSnapshot(id, toSnapshot(folded))
  }
  return {
    look(folded) {
      if (folded.state.seq - savedSeq < limits.snapshotEveryRecords) return
      inBackground(`snapshot of ${id}`, save(folded))
    },
    async finish(folded) {
      if (folded.state.seq > savedSeq) await save(folded)
    },
  }
}
