import type { RemoteSessions } from '@holdfast/client'
import type { Fault } from '@holdfast/protocol'
import { useCallback, useEffect, useRef, useState } from 'react'
import { withBeginning } from '../text/search-words.ts'
import type { FoundMessage } from './list-rows.ts'

const pageSize = 50
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

/** Searches all messages that were ever said, page by page. The last letters may be the beginning of a word. */
export function useFoundMessages(sessions: RemoteSessions, search: string, workspace: string | null): FoundState {
  const [found, setFound] = useState(nothing)
  const text = search.trim()
  const loading = useRef(false)
  const latest = useRef('')

  const load = useCallback(
    async (cursor: string | null) => {
      const asked = `${workspace} ${text}`
      loading.current = true
      const answer = await sessions.search({
        ...{ text: withBeginning(text), limit: pageSize },
        ...(workspace !== null && { workspace }),
        ...(cursor !== null && { cursor }),
      })
      loading.current = false
      if (asked !== latest.current) return // a newer search is on its way
      if (!answer.ok) return setFound((before) => ({ ...before, hits: before.hits ?? [], fault: answer.fault }))
      const { hits, next, isIndexing = false } = answer.value
      const hasMore = next !== null
      setFound((before) => ({
        hits: cursor === null ? hits : [...(before.hits ?? []), ...hits],
        ...{ next, hasMore, isIndexing, fault: null },
      }))
    },
    [sessions, text, workspace],
  )
  useEffect(() => {
    latest.current = `${workspace} ${text}`
    setFound((before) => (text === '' ? nothing : { ...before, next: null, hasMore: false }))
    if (text === '') return
    const timer = setTimeout(() => void load(null), typingMs)
    return () => clearTimeout(timer)
  }, [load, text, workspace])

  const { next, ...state } = found
  const loadMore = () => {
    if (next !== null && !loading.current) void load(next)
  }
  return { ...state, loadMore }
}
