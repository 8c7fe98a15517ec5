import type { Store, StoredToken } from '@holdfast/core/ports'
import type { BlobHash, Trust } from '@holdfast/protocol'
import { done, ok } from '@holdfast/protocol/result'
import { probeText } from '../../disk.ts'
import { attempt, type Database } from '../connect/connect.ts'

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
