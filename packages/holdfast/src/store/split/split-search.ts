import type { SearchRequest } from '@holdfast/core/ports'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import type { PlacedStore } from '../list-cursor.ts'
import type { RankedHit, RankedPage } from '../search/ranked-page.ts'
import { badSearchCursor } from '../search/search-cursor.ts'

/** Of a store from which no page has been shown yet, and of one that has nothing more. */
const [begun, over] = ['b', 'e']
const both = /^([\w.-]+)~([\w.-]+)$/

/** One page of what both find, the best first, memory before disk where they are equal. Each goes on at its own cursor. */
export async function searchBoth(
  disk: PlacedStore,
  memory: PlacedStore,
  request: SearchRequest,
): Promise<Result<RankedPage>> {
  const [, onDisk = begun, inMemory = begun] = both.exec(request.cursor ?? `${begun}~${begun}`) ?? []
  if (request.cursor !== undefined && !both.test(request.cursor)) return refuse(badSearchCursor(request.cursor))
  const [theirs, ours] = await Promise.all([pageOf(disk, request, onDisk), pageOf(memory, request, inMemory)])
  if (!theirs.ok) return theirs
  if (!ours.ok) return ours

  const hits = [...ours.value.hits, ...theirs.value.hits]
    .toSorted((left, right) => right.score - left.score)
    .slice(0, request.limit)
  const [diskEnd, memoryEnd] = [endOf(theirs.value, hits, onDisk), endOf(ours.value, hits, inMemory)]
  const next = `${diskEnd}~${memoryEnd}`
  return ok({ hits, next: diskEnd === over && memoryEnd === over ? null : next })
}

async function pageOf(store: PlacedStore, request: SearchRequest, from: string): Promise<Result<RankedPage>> {
  if (from === over) return ok({ hits: [], next: null })
  return store.search({ ...request, cursor: from === begun ? undefined : from })
}

/** Where a store goes on after those of its hits that were shown. */
function endOf({ hits, next }: RankedPage, shown: readonly RankedHit[], from: string): string {
  const count = hits.filter((hit) => shown.includes(hit)).length
  if (count === hits.length) return next ?? over
  return hits[count - 1]?.behind ?? from
}
