import {
  explainIssue,
  type FoundMessages,
  fault,
  limits,
  ok,
  type Result,
  refuse,
  SearchOptions,
} from '@holdfast/protocol'
import type { Search, SearchPage } from '../../ports/search.ts'

const limitDefault = 20

/** Messages by their words, as every door gives them out. */
export async function searchSessions(store: Search, given: SearchOptions): Promise<Result<FoundMessages>> {
  const options = SearchOptions.safeParse(given)
  if (!options.success) return refuse(fault('bad_request', `Cannot search: ${explainIssue(options.error)}.`))
  const { limit = limitDefault, ...rest } = options.data
  const found = await store.search({ ...rest, limit: Math.min(limit, limits.searchHitsMax) })
  return found.ok ? ok(foundMessages(found.value)) : found
}

const foundMessages = ({ hits, next }: SearchPage): FoundMessages => ({
  hits: hits.map(({ session, title, message, role, at, snippet }) => ({
    sessionId: session,
    title,
    messageId: message,
    kind: role,
    at,
    snippet,
  })),
  next,
})
