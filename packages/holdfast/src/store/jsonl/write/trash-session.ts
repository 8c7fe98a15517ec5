import type { SessionId } from '@holdfast/protocol'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import { sessionLocked, sessionNotFound } from '../../store-faults.ts'
import type { TrashFile } from '../catalogue/trash-file.ts'
import type { SessionRow } from '../log/session-row.ts'

/** Puts sessions into the trash and takes them out again. Its caller sees to it that nobody changes them meanwhile. */
export function createTrasher(rows: ReadonlyMap<SessionId, SessionRow>, file: TrashFile) {
  for (const [id, at] of file.all()) {
    const row = rows.get(id)
    if (row?.isShared === false) row.trashedAt = at
    else file.forget(id)
  }

  async function move(session: SessionId, at: number | null): Promise<Result<void>> {
    const row = rows.get(session)
    if (row === undefined || row.isShared) return refuse(sessionNotFound(session))
    if (at !== null && row.owner !== null) return refuse(sessionLocked(session, row.owner))
    if ((row.trashedAt === null) === (at === null)) return done
    await (at === null ? file.remove(session) : file.put(session, at))
    row.trashedAt = at
    return done
  }

  return {
    trash: (session: SessionId, at: number): Promise<Result<void>> => move(session, at),
    restore: (session: SessionId): Promise<Result<void>> => move(session, null),
  }
}
