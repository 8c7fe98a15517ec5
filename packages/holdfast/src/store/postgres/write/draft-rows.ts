import type { Draft, Store } from '@holdfast/core/ports'
import type { StepId } from '@holdfast/protocol'
import { done, refuse } from '@holdfast/protocol/result'
import { snapshotChecksum } from '../../snapshot-checksum.ts'
import { fenced, sessionNotFound } from '../../store-faults.ts'
import { attempt, type Database } from '../connect/connect.ts'

/** Stores the text of running answers and folded states. */
export function createDraftRows({
  read,
  write,
}: Database): Pick<Store, 'saveDraft' | 'loadDraft' | 'saveSnapshot' | 'loadSnapshot'> {
  return {
    saveDraft: (session, epoch, { step, parts }) =>
      attempt(async () => {
        // Locks the session against a claim, so that no draft of a former owner comes after it.
        const saved = await write(
          `with its as (select sid, epoch from @session where id = $1 and epoch = $2 for share)
          insert into @draft (sid, epoch, step, parts) select sid, epoch, $3, $4 from its
          on conflict (sid) do update set epoch = excluded.epoch, step = excluded.step, parts = excluded.parts returning sid`,
          [session, epoch, step, JSON.stringify(parts)],
        )
        if (saved.length > 0) return done
        const [current] = await read('select epoch from @session where id = $1 and purged_at is null', [session])
        if (current === undefined) return refuse(sessionNotFound(session))
        return refuse(fenced(session, epoch, Number(current['epoch'])))
      }),

    async loadDraft(session) {
      const [row] = await read('select step, parts from @draft join @session using (sid) where id = $1', [session])
      if (row === undefined) return null
      return { step: row['step'] as StepId, parts: JSON.parse(String(row['parts'])) as Draft['parts'] } // as it was saved
    },

    async saveSnapshot(session, snapshot) {
      const { seq, fold, body } = snapshot
      // Ignores a fault: without a snapshot the next load only takes longer.
      await attempt(async () => {
        await write(
          `insert into @snapshot (sid, seq, fold, crc, body) select sid, $2, $3, $4, $5 from @session where id = $1
          on conflict (sid) do update
          set seq = excluded.seq, fold = excluded.fold, crc = excluded.crc, body = excluded.body`,
          [session, seq, fold, snapshotChecksum(session, snapshot), body],
        )
        return done
      })
    },

    async loadSnapshot(session, fold) {
      const [row] = await read(
        `select snapshot.seq, fold, crc, body from @snapshot snapshot join @session using (sid)
        where id = $1 and fold = $2`,
        [session, fold],
      )
      if (row === undefined) return null
      const stored = { seq: Number(row['seq']), fold: Number(row['fold']), body: String(row['body']) }
      return snapshotChecksum(session, stored) === row['crc'] ? stored : null
    },
  }
}
