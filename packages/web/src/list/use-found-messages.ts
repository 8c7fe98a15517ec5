import type { RemoteSessions } from '@holdfast/client'
import type { Fault } from '@holdfast/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { ListFilter } from './list-filter.ts'
import type { FoundMessage } from './list-rows.ts'
import { createMessageSearch } from './search-messages.ts'

const typingMs = 200

/** The messages that a search has found so far. `hits` is null until the first answer. */
export type FoundState = {
  readonly hits: readonly FoundMessage[] | null
  readonly hasMore: boolean
  readonly isIndexing: boolean
  readonly fault: Fault | null
  readonly loadMore: () => void
}

type Found = Omit<FoundState, 'loadMore'> & { readonly next: string | null }
const nothing: Found = { hits: null, hasMore: false, isIndexing: false, fault: null, next: null }

/** Searches all messages of the listed sessions, page by page. The last letters may be the beginning of a word. */
export function useFoundMessages(sessions: RemoteSessions, filter: ListFilter): FoundState {
  const [found, setFound] = useState(nothing)
  const search = useMemo(
    () => (filter.search.trim() === '' ? null : createMessageSearch(sessions, filter)),
    [sessions, filter],
  )
  const loading = useRef(false)
  const latest = useRef(search)

  const load = useCallback(
    async (cursor: string | null) => {
      if (search === null) return
      loading.current = true
      const answer = await search(cursor)
      loading.current = false
      if (search !== latest.current) return // a newer search is on its way
      if (!answer.ok) return setFound((before) => ({ ...before, hits: before.hits ?? [], fault: answer.fault }))
      const { hits, next, isIndexing = false } = answer.value
      const hasMore = next !== null
      setFound((before) => ({
        hits: cursor === null ? hits : [...(before.hits ?? []), ...hits],
        next,
        hasMore,
        isIndexing,
        fault: null,
      }))
    },
    [search],
  )
  useEffect(() => {
    latest.current = search
    setFound((before) => (search === null ? nothing : { ...before, next: null, hasMore: false }))
    if (search === null) return
    const timer = setTimeout(() => void load(null), typingMs)
    return () => clearTimeout(timer)
  }, [load, search])

  const { next, ...state } = found
  const loadMore = () => {
    if (next !== null && !loading.current) void load(next)
  }
  return { ...state, loadMore }
}
