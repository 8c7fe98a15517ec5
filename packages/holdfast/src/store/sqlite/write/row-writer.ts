import type { DatabaseSync } from 'node:sqlite'
import type { Lease } from '@holdfast/core/ports'
import { done, ok, type Result, refuse } from '@holdfast/protocol/result'
import { snapshotChecksum } from '../../snapshot-checksum.ts'
import { fenced, sessionLocked, sessionNotFound, sessionTrashed } from '../../store-faults.ts'
import type { WriteRequest } from '../rows/messages.ts'

type Of<Op extends WriteRequest['op']> = Extract<WriteRequest, { readonly op: Op }>

/** The rows beside the log: leases, nodes, drafts, snapshots. Works inside a transaction someone else begins. */
export function createRowWriter(database: DatabaseSync, lowerCursors: () => void) {
  const stand = database.prepare(
    'select epoch, head, base, owner, trashed_at from session where id = ? and purged_at is null',
  )
  const claimRow = database.prepare(`
    update session set owner = ?, epoch = epoch + 1
    where id = ? and purged_at is null and trashed_at is null and (owner is null or owner = ? or owner = ?)
    returning epoch, head, base`)
  // The epoch rises here too: whoever gave a session up may not append to it, even before the next owner comes.
  const releaseRow = database.prepare(
    'update session set owner = null, epoch = epoch + 1 where id = ? and owner = ? and epoch = ?',
  )
  const putNode = database.prepare('insert or replace into node (id, address, started_at) values (?, ?, ?)')
  const dropNode = database.prepare('delete from node where id = ?')
  const putDraft = database.prepare(`
    insert or replace into draft (sid, epoch, step, parts) select sid, epoch, ?, ? from session where id = ? and epoch = ?`)
  const putSnapshot = database.prepare(`
    insert or replace into snapshot (sid, seq, fold, crc, body) select sid, ?, ?, ?, ? from session where id = ?`)
  const unspoken = database.prepare(`
    select sid from session s where spoken = 0 and purged_at is null and (owner is null or owner in (select value from json_each(?)))
    and not exists (select 1 from session child where child.parent = s.sid)`)
  const removals = ['record', 'draft', 'snapshot', 'blob_use', 'session'].map((table) =>
    database.prepare(`delete from ${table} where sid = ?`),
  )

  return {
    claim({ session, owner, takeFrom }: Of<'claim'>): Result<Lease> {
      const row = claimRow.get(owner, session, owner, takeFrom)
      if (row !== undefined) {
        return ok({ epoch: Number(row['epoch']), head: Number(row['head']), base: Number(row['base']) })
      }
      const current = stand.get(session)
      if (current === undefined) return refuse(sessionNotFound(session))
      if (current['trashed_at'] !== null) return refuse(sessionTrashed(session))
      const node = current['owner']
      return refuse(sessionLocked(session, node === null ? null : String(node)))
    },

    release({ session, owner, epoch }: Of<'release'>): Result<undefined> {
      releaseRow.run(session, owner, epoch)
      return done
    },

    registerNode({ node }: Of<'registerNode'>): Result<undefined> {
      putNode.run(node.id, node.address, node.startedAt)
      return done
    },

    removeNode({ id }: Of<'removeNode'>): Result<undefined> {
      dropNode.run(id)
      return done
    },

    saveDraft({ session, epoch, step, parts }: Of<'saveDraft'>): Result<undefined> {
      if (putDraft.run(step, parts, session, epoch).changes !== 0) return done
      const current = stand.get(session)
      if (current === undefined) return refuse(sessionNotFound(session))
      return refuse(fenced(session, epoch, Number(current['epoch'])))
    },

    saveSnapshot({ session, seq, fold, body }: Of<'saveSnapshot'>): Result<undefined> {
      putSnapshot.run(seq, fold, snapshotChecksum(session, { seq, fold, body }), body, session)
      return done
    },

    removeUnspoken({ owners }: Of<'removeUnspoken'>): Result<number> {
      const rows = unspoken.all(JSON.stringify(owners))
      for (const row of rows) for (const removal of removals) removal.run(Number(row['sid']))
      if (rows.length > 0) lowerCursors()
      return ok(rows.length)
    },
  }
}
