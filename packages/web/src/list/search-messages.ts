import { type FoundMessages, ok, type Result, type SessionId, type Sessions } from '@holdfast/protocol'
import { withBeginning } from '../text/search-words.ts'
import { isInList, type ListFilter, listOptionsOf } from './list-filter.ts'

type Searched = Pick<Sessions, 'search' | 'list' | 'open'>

const pageSize = 50
/** So many pages are read at once if few of their messages are in sessions that the filter lists. */
const pagesMax = 5
/** Sessions that the filter lists are read so many at once. Of others each one is asked. */
const listMax = 200

/** Searches the messages of the sessions that a filter lists, page by page. One for each filter: it knows sessions it has seen. */
export function createMessageSearch(sessions: Searched, filter: ListFilter) {
  const { workspace } = filter
  const text = withBeginning(filter.search.trim())
  const fits = createSessionTest(sessions, { ...filter, search: '' })

  /** Returns the next messages. `cursor` is the `next` of the answer before; null for the first. */
  return async (cursor: string | null): Promise<Result<FoundMessages>> => {
    const hits: FoundMessages['hits'] = []
    let at = cursor
    for (let pages = 1; ; pages++) {
      const page = await sessions.search({
        text,
        limit: pageSize,
        ...(workspace !== null && { workspace }),
        ...(at !== null && { cursor: at }),
      })
      if (!page.ok) return page
      const fitting = await fits(page.value.hits.map(({ sessionId }) => sessionId))
      if (!fitting.ok) return fitting
      hits.push(...page.value.hits.filter(({ sessionId }) => fitting.value.has(sessionId)))
      at = page.value.next
      if (at === null || hits.length >= pageSize / 2 || pages === pagesMax) return ok({ ...page.value, hits })
    }
  }
}

/** Returns a function that tells which of some sessions a filter lists. The search itself knows the workspace only. */
function createSessionTest(sessions: Pick<Searched, 'list' | 'open'>, filter: ListFilter) {
  const { model, isRunning, isWaiting } = filter
  const isSimple = model === null && !isRunning && !isWaiting
  const known = new Map<SessionId, boolean>()
  let areAllKnown: boolean | null = null // null until the list is read

  const readList = async (): Promise<Result<undefined>> => {
    const listed = await sessions.list({ ...listOptionsOf(filter), limit: listMax })
    if (!listed.ok) return listed
    for (const { id } of listed.value.sessions) known.set(id, true)
    areAllKnown = listed.value.next === null
    return ok(undefined)
  }
  const readOne = async (id: SessionId): Promise<void> => {
    const opened = await sessions.open(id)
    const state = opened.ok ? await opened.value.state(['meta']) : opened
    known.set(id, state.ok && isInList(state.value.meta, filter))
  }
  return async (ids: readonly SessionId[]): Promise<Result<ReadonlySet<SessionId>>> => {
    if (isSimple) return ok(new Set(ids))
    if (areAllKnown === null) {
      const read = await readList()
      if (!read.ok) return read
    }
    if (!areAllKnown) await Promise.all([...new Set(ids)].filter((id) => !known.has(id)).map(readOne))
    return ok(new Set(ids.filter((id) => known.get(id) === true)))
  }
}
