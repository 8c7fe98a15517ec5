import type { SearchRequest } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import type { Result } from '@holdfast/protocol/result'
import type { RankedPage } from '../search/ranked-page.ts'
import { type ScannedSession, scanSearch } from '../search/scan-search.ts'
import type { MemorySession } from './memory-session.ts'

/** Finds messages by reading everything: what is held in memory is never much. */
export function searchSessions(
  sessions: ReadonlyMap<SessionId, MemorySession>,
  request: SearchRequest,
): Promise<Result<RankedPage>> {
  const held = withLineages(sessions.values())
  const byId = new Map([...held].map((session) => [session.id, session]))
  return scanSearch(
    {
      sessions: [...held].map((session) => scannedOf(session, sessions.has(session.id))),
      async ownRecords(id, after, limit) {
        const session = byId.get(id)
        if (session === undefined) return []
        const from = Math.max(0, after - session.base) // its own records follow its base, one by one
        return session.records.slice(from, from + limit)
      },
    },
    request,
  )
}

/** Also those that are gone, but for what their forks share. */
function withLineages(sessions: Iterable<MemorySession>): ReadonlySet<MemorySession> {
  const all = new Set<MemorySession>()
  for (const session of sessions) {
    for (let one: MemorySession | null = session; one !== null; one = one.parent) all.add(one)
  }
  return all
}

function scannedOf(session: MemorySession, isThere: boolean): ScannedSession {
  const { id, order, parent, base, head, entry, trashedAt } = session
  const { title, workspace } = entry.meta
  const isFound = isThere && trashedAt === null && entry.spoken
  return { id, order, parent: parent?.id ?? null, base, head, shown: isFound ? { title, workspace } : null }
}
