import type { Store } from '@holdfast/core/ports'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import { sessionLocked, sessionNotFound, sessionNotTrashed } from '../../store-faults.ts'
import { attempt, type Database } from '../connect/connect.ts'
import { numberOrNull, textOrNull } from '../read/columns.ts'

/** Trashes, restores and removes sessions. */
export function createSessionRemover({
  read,
  write,
}: Database): Pick<Store, 'trash' | 'restore' | 'purge' | 'removeUnspoken'> {
  return {
    trash: (session, at) =>
      attempt(async () => {
        const changed = await write(
          `update @session set trashed_at = $2
          where id = $1 and purged_at is null and owner is null and trashed_at is null returning sid`,
          [session, at],
        )
        if (changed.length > 0) return done
        const [row] = await read('select owner, trashed_at from @session where id = $1 and purged_at is null', [
          session,
        ])
        if (row === undefined) return refuse(sessionNotFound(session))
        return row['trashed_at'] === null ? refuse(sessionLocked(session, textOrNull(row['owner']))) : done
      }),

    restore: (session) =>
      attempt(async () => {
        const changed = await write(
          'update @session set trashed_at = null where id = $1 and purged_at is null returning sid',
          [session],
        )
        return changed.length > 0 ? done : refuse(sessionNotFound(session))
      }),

    purge: (session, options) =>
      attempt(async () => {
        const [row] = await write('select @purge_session($1, $2) as refusal', [session, options?.trashedAt ?? null])
        return toPurged(session, row?.['refusal'] as Refusal) // made by the function
      }),

    async removeUnspoken(owners) {
      const [row] = await write('select @remove_unspoken($1::jsonb) as removed', [JSON.stringify(owners)])
      return Number(row?.['removed'])
    },
  }
}

type Refusal = { readonly code: string; readonly owner?: string; readonly trashedAt?: number | null } | null

function toPurged(session: string, refusal: Refusal): Result<void> {
  if (refusal === null) return done
  const { code, owner = null, trashedAt = null } = refusal
  if (code === 'session_locked') return refuse(sessionLocked(session, owner))
  if (code === 'session_not_trashed') return refuse(sessionNotTrashed(session, numberOrNull(trashedAt)))
  return refuse(sessionNotFound(session))
}
