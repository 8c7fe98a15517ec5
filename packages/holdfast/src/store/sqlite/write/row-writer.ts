import type { DatabaseSync } from 'node:sqlite'
import type { Lease } from '@holdfast/core/ports'
import { done, ok, refuse } from '@holdfast/protocol/result'
import { probeText } from '../../disk.ts'
import { snapshotChecksum } from '../../snapshot-checksum.ts'
import { fenced, sessionLocked, sessionNotFound, sessionTrashed } from '../../store-faults.ts'
import { textOrNull } from '../rows/columns.ts'
import type { WriteRequests } from '../rows/requests.ts'
import { removalsName } from '../rows/schema.ts'

/** No follower has this name: if a crash leaves the row, it does no harm, and the next probe removes it. */
const probeName = `probe ${probeText}`

/** Writes the rows beside the log: leases, nodes, tokens, drafts, snapshots, cursors. The caller begins the transaction. */
export function createRowWriter(database: DatabaseSync) {
  const sessionById = database.prepare(`
    select epoch, owner, trashed_at from session where id = ? and purged_at is null`)
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

  const putToken = database.prepare(`
    insert into token (id, hash, name, role, session, created_at, created_by, expires_at, last_used_at)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const dropToken = database.prepare('delete from token where id = ?')
  const touchedToken = database.prepare('update token set last_used_at = ? where id = ?')

  const posByName = database.prepare('select pos from cursor where name = ?')
  const putCursor = database.prepare('insert or replace into cursor (name, pos) values (?, ?)')
  const dropCursor = database.prepare('delete from cursor where name = ?')

  return {
    claim(session, owner, takeFrom) {
      const row = claimRow.get(owner, session, owner, takeFrom)
      if (row !== undefined) return ok({ ...row } as Lease) // its columns
      const current = sessionById.get(session)
      if (current === undefined) return refuse(sessionNotFound(session))
      if (current['trashed_at'] !== null) return refuse(sessionTrashed(session))
      return refuse(sessionLocked(session, textOrNull(current['owner'])))
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

    addToken({ id, hash, name, role, session, createdAt, createdBy, expiresAt, lastUsedAt }) {
      putToken.run(id, hash, name, role, session, createdAt, createdBy, expiresAt, lastUsedAt)
      return done
    },

    removeToken: (id) => ok(dropToken.run(id).changes !== 0),

    touchToken(id, at) {
      touchedToken.run(at, id)
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

    saveCursor(name, pos, removals) {
      if (Number(posByName.get(removalsName)?.['pos'] ?? 0) === removals) putCursor.run(name, pos)
      return done
    },

    // A probe commits a row and removes it in another transaction: within one, nothing would reach the disk.
    beginProbe() {
      putCursor.run(probeName, 0)
      return done
    },

    endProbe() {
      dropCursor.run(probeName)
      return done
    },
  } satisfies Partial<WriteRequests>
}
