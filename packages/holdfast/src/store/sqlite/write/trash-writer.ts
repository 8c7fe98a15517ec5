import type { DatabaseSync } from 'node:sqlite'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import { sessionLocked, sessionNotFound } from '../../store-faults.ts'

/** Puts sessions into the trash and takes them out again. Works inside a transaction someone else begins. */
export function createTrashWriter(database: DatabaseSync, countTrashing: () => void) {
  const rowOf = database.prepare('select sid, owner, trashed_at from session where id = ? and purged_at is null')
  const put = database.prepare('update session set trashed_at = ? where sid = ?')

  return {
    trash({ session, at }: { readonly session: string; readonly at: number }): Result<undefined> {
      const row = rowOf.get(session)
      if (row === undefined) return refuse(sessionNotFound(session))
      if (row['owner'] !== null) return refuse(sessionLocked(session, String(row['owner'])))
      if (row['trashed_at'] !== null) return done
      put.run(at, Number(row['sid']))
      countTrashing()
      return done
    },

    restore({ session }: { readonly session: string }): Result<undefined> {
      const row = rowOf.get(session)
      if (row === undefined) return refuse(sessionNotFound(session))
      if (row['trashed_at'] === null) return done
      put.run(null, Number(row['sid']))
      countTrashing()
      return done
    },
  }
}
