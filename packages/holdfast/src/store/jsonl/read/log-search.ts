import type { SearchRequest } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import type { Result } from '@holdfast/protocol/result'
import type { RankedPage } from '../../search/ranked-page.ts'
import { type ScannedSession, scanSearch } from '../../search/scan-search.ts'
import type { OpenLog } from '../log/open-logs.ts'
import type { SessionRow } from '../log/session-row.ts'

type Logs = { of(row: SessionRow): Promise<Pick<OpenLog, 'index' | 'read'>> }

/** Finds messages by reading the logs through: plain files have no index. */
export function createLogSearch(rows: ReadonlyMap<SessionId, SessionRow>, logs: Logs) {
  return (request: SearchRequest): Promise<Result<RankedPage>> =>
    scanSearch(
      {
        sessions: [...rows.values()].map(scannedOf),
        async ownRecords(session, after, limit) {
          const row = rows.get(session)
          if (row === undefined) return []
          const log = await logs.of(row)
          return log.read(log.index.pick({ from: after + 1, upTo: row.head, limit, newestFirst: false, types: null }))
        },
      },
      request,
    )
}

function scannedOf({ id, order, parent, base, head, entry, isShared, trashedAt }: SessionRow): ScannedSession {
  const { title, workspace } = entry.meta
  const isFound = !isShared && trashedAt === null && entry.spoken
  return { id, order, parent, base, head, shown: isFound ? { title, workspace } : null }
}
