import type { SearchPage, SearchRequest } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import type { Result } from '@holdfast/protocol/result'
import { type ScannedSession, scanSearch } from '../search/scan-search.ts'
import type { MemorySession } from './memory-session.ts'

/** Finds messages by reading all records in memory. */
export function searchSessions(
  sessions: ReadonlyMap<SessionId, MemorySession>,
  request: SearchRequest,
): Promise<Result<SearchPage>> {
  const all = withAncestors(sessions.values())
  const byId = new Map([...all].map((session) => [session.id, session]))
  return scanSearch(
    {
      sessions: [...all].map((session) =>
        toScannedSession(session, sessions.has(session.id) && isOfTenant(session, request.tenant)),
      ),
      async ownRecords(id, after, limit) {
        const session = byId.get(id)
        if (session === undefined) return []
        const from = Math.max(0, after - session.base) // its own records follow its base without gaps
        return session.records.slice(from, from + limit)
      },
    },
    request,
  )
}

const isOfTenant = ({ tenant }: MemorySession, wanted: string | undefined): boolean =>
  wanted === undefined || tenant === wanted

/** Returns the sessions and their ancestors, including purged ones. */
function withAncestors(sessions: Iterable<MemorySession>): ReadonlySet<MemorySession> {
  const all = new Set<MemorySession>()
  for (const session of sessions) {
    for (let next: MemorySession | null = session; next !== null; next = next.parent) all.add(next)
  }
  return all
}

function toScannedSession(session: MemorySession, exists: boolean): ScannedSession {
  const { id, order, parent, base, head, entry, trashedAt } = session
  const { title, workspace } = entry.meta
  const isFound = exists && trashedAt === null && entry.spoken
  return { id, order, parent: parent?.id ?? null, base, head, shown: isFound ? { title, workspace } : null }
}
