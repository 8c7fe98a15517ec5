import type { Draft, Lease, Leases, NodeRow, Store, StoredToken } from '@holdfast/core/ports'
import type { BlobHash, StepId, Trust } from '@holdfast/protocol'
import { done, ok, refuse } from '@holdfast/protocol/result'
import { probeText } from '../../disk.ts'
import { snapshotChecksum } from '../../snapshot-checksum.ts'
import { fenced, sessionLocked, sessionNotFound, sessionTrashed } from '../../store-faults.ts'
import { attempt, type Database } from '../connect/connect.ts'
import { textOrNull } from '../read/columns.ts'

const selectSession = 'select epoch, owner, trashed_at from @session where id = $1 and purged_at is null'

/** Claims and releases sessions, and lists the nodes. */
export function createLeases({ read, write }: Database): Leases {
  return {
    claim: (session, owner, takeFrom) =>
      attempt(async () => {
        const [row] = await write(
          `update @session set owner = $2, epoch = epoch + 1
          where id = $1 and purged_at is null and trashed_at is null and (owner is null or owner = $2 or owner = $3)
          returning epoch, head, base`,
          [session, owner, takeFrom],
        )
        if (row !== undefined) return ok({ ...row } as Lease) // its columns
        const [current] = await read(selectSession, [session])
        if (current === undefined) return refuse(sessionNotFound(session))
        if (current['trashed_at'] !== null) return refuse(sessionTrashed(session))
        return refuse(sessionLocked(session, textOrNull(current['owner'])))
      }),

    // Raises the epoch too: a former owner may not append, even before the next owner claims the session.
    async release(session, owner, epoch) {
      await write('update @session set owner = null, epoch = epoch + 1 where id = $1 and owner = $2 and epoch = $3', [
        ...[session, owner, epoch],
      ])
    },

    async registerNode({ id, address, startedAt }) {
      await write(
        `insert into @node (id, address, started_at) values ($1, $2, $3)
        on conflict (id) do update set address = excluded.address, started_at = excluded.started_at`,
        [id, address, startedAt],
      )
    },
    async nodes() {
      const rows = await read('select id, address, started_at as "startedAt" from @node order by id')
      return rows.map((row) => ({ ...row }) as NodeRow) // its columns
    },
    async removeNode(id) {
      await write('delete from @node where id = $1', [id])
    },
  }
}

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
        const [current] = await read(selectSession, [session])
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

/** Stores tokens and answers what is trusted. */
export function createTokenRows({
  read,
  write,
}: Database): Pick<Store, 'addToken' | 'tokens' | 'removeToken' | 'touchToken' | 'workspaceTrust'> {
  return {
    addToken: ({ id, hash, name, role, session, createdAt, createdBy, expiresAt, lastUsedAt }) =>
      attempt(async () => {
        await write(
          `insert into @token (id, hash, name, role, session, created_at, created_by, expires_at, last_used_at)
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
          [id, hash, name, role, session, createdAt, createdBy, expiresAt, lastUsedAt],
        )
        return done
      }),
    async tokens() {
      const rows = await read(
        `select id, hash, name, role, session, created_at as "createdAt", created_by as "createdBy",
          expires_at as "expiresAt", last_used_at as "lastUsedAt" from @token order by created_at, added`,
      )
      return rows.map((row) => ({ ...row }) as StoredToken) // its columns
    },
    removeToken: (id) =>
      attempt(async () => ok((await write('delete from @token where id = $1 returning id', [id])).length > 0)),
    touchToken: (id, at) =>
      attempt(async () => {
        await write('update @token set last_used_at = $2 where id = $1', [id, at])
        return done
      }),

    async workspaceTrust(workspace) {
      const rows = await read('select tool, args_hash from @trust where workspace = $1 order by tool, args_hash', [
        workspace,
      ])
      return rows.map((row): Trust => {
        const [tool, argsHash] = [String(row['tool']), String(row['args_hash'])]
        return { tool, scope: 'workspace', ...(argsHash !== '' && { argsHash: argsHash as BlobHash }) } // as it was granted
      })
    },
  }
}

/** Commits a row and removes it in another transaction: within one, nothing would reach the disk. */
export const probeDatabase = ({ write }: Database) =>
  attempt(async () => {
    const [row] = await write('insert into @probe (content) values ($1) returning id', [probeText])
    await write('delete from @probe where id <= $1', [row?.['id']])
    return done
  })
