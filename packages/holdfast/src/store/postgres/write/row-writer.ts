import type { Draft, Store, StoredToken } from '@holdfast/core/ports'
import type { BlobHash, StepId, Trust } from '@holdfast/protocol'
import { done, ok, refuse } from '@holdfast/protocol/result'
import { probeText } from '../../disk.ts'
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

/** Stores tokens and answers what is trusted. */
export function createTokenRows({
  read,
  write,
}: Database): Pick<Store, 'addToken' | 'tokens' | 'removeToken' | 'touchToken' | 'workspaceTrust'> {
  return {
    addToken: ({ id, hash, name, role, session, createdAt, createdBy, expiresAt, lastUsedAt, tenant = null }) =>
      attempt(async () => {
        await write(
          `insert into @token (id, hash, name, role, session, created_at, created_by, expires_at, last_used_at, tenant)
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
          [id, hash, name, role, session, createdAt, createdBy, expiresAt, lastUsedAt, tenant],
        )
        return done
      }),
    async tokens() {
      const rows = await read(
        `select id, hash, name, role, session, created_at as "createdAt", created_by as "createdBy",
          expires_at as "expiresAt", last_used_at as "lastUsedAt", tenant from @token order by created_at, added`,
      )
      return rows.map(({ tenant, ...row }) => {
        const token = { ...row, ...(tenant !== null && { tenant }) }
        return token as StoredToken // its columns
      })
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
