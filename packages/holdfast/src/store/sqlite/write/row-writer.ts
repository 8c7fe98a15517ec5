import type { DatabaseSync } from 'node:sqlite'
import { done, ok, refuse } from '@holdfast/protocol/result'
import { snapshotChecksum } from '../../snapshot-checksum.ts'
import { fenced, sessionLocked, sessionNotFound, sessionTrashed } from '../../store-faults.ts'
import type { Changes } from '../rows/messages.ts'

type RowChanges = Pick<Changes, 'claim' | 'release' | 'registerNode' | 'removeNode' | 'saveDraft' | 'saveSnapshot'>

/** Writes the rows beside the log: leases, nodes, drafts, snapshots. The caller begins the transaction. */
export function createRowWriter(database: DatabaseSync): RowChanges {
  const sessionById = database.prepare(
    'select epoch, owner, trashed_at from session where id = ? and purged_at is null',
  )
  const claimRow = database.prepare(`
    update session set owner = ?, epoch = epoch + 1
    where id = ? and purged_at is null and trashed_at is null and (owner is null or owner = ? or owner = ?)
    returning epoch, head, base`)
  // Raises the epoch too: a former owner may not append, even before the next owner claims the session.
  const releaseRow = database.prepare(
    'update session set owner = null, epoch = epoch + 1 where id = ? and owner = ? and epoch = ?',
  )
  const putNode = database.prepare('insert or replace into node (id, address, started_at) values (?, ?, ?)')
  const dropNode = database.prepare('delete from node where id = ?')
  const putDraft = database.prepare(`
    insert or replace into draft (sid, epoch, step, parts) select sid, epoch, ?, ? from session where id = ? and epoch = ?`)
  const putSnapshot = database.prepare(`
    insert or replace into snapshot (sid, seq, fold, crc, body) select sid, ?, ?, ?, ? from session where id = ?`)

  return {
    claim(session, owner, takeFrom) {
      const row = claimRow.get(owner, session, owner, takeFrom)
      if (row !== undefined) {
        return ok({ epoch: Number(row['epoch']), head: Number(row['head']), base: Number(row['base']) })
      }
      const current = sessionById.get(session)
      if (current === undefined) return refuse(sessionNotFound(session))
      if (current['trashed_at'] !== null) return refuse(sessionTrashed(session))
      const node = current['owner']
      return refuse(sessionLocked(session, node === null ? null : String(node)))
    },

    release(session, owner, epoch) {
      releaseRow.run(session, owner, epoch)
      return done
    },

    registerNode({ id, address, startedAt }) {
      putNode.run(id, address, startedAt)
      return done
    },

    removeNode(id) {
      dropNode.run(id)
      return done
    },

    saveDraft(session, epoch, { step, parts }) {
      if (putDraft.run(step, parts, session, epoch).changes !== 0) return done
      const current = sessionById.get(session)
      if (current === undefined) return refuse(sessionNotFound(session))
      return refuse(fenced(session, epoch, Number(current['epoch'])))
    },

    saveSnapshot(session, snapshot) {
      const { seq, fold, body } = snapshot
      putSnapshot.run(seq, fold, snapshotChecksum(session, snapshot), body, session)
      return done
    },
  }
}
