import { HoldfastError, limits, ok, type Result, refuse, type SessionId } from '@holdfast/protocol'
import type { ListPage, ListRequest, SessionLookup } from '../../ports/store/catalogue.ts'
import { badCursor, compareListPlaces, decodeListCursor, encodeListCursor } from '../../ports/store/catalogue.ts'
import type { SearchHit, SearchPage, SearchRequest } from '../../ports/store/search.ts'
import type { Store } from '../../ports/store/store.ts'

/** Lists, finds and searches the sessions of two stores. Where all else is equal, those in memory come first. */
export const mergeStores = (disk: Store, memory: Store): Pick<Store, 'list' | 'find' | 'search'> => ({
  list: (request) => listBoth(disk, memory, request),
  search: (request) => searchBoth(disk, memory, request),
  async find(name: SessionLookup, tenant?: string) {
    const [onDisk, inMemory] = await Promise.all([disk.find(name, tenant), memory.find(name, tenant)])
    if (name.type !== 'latest') return [...onDisk, ...inMemory].toSorted().slice(0, limits.prefixMatchesMax)
    const [diskAt, memoryAt] = await Promise.all([activeAt(disk, onDisk), activeAt(memory, inMemory)])
    return memoryAt >= diskAt ? inMemory : onDisk
  },
})

async function activeAt(store: Store, [id]: readonly SessionId[]): Promise<number> {
  return (id && (await store.entry(id))?.entry.activeAt) ?? Number.NEGATIVE_INFINITY
}

/** Marks a cursor after a session in memory; a cursor without it is one of the disk. */
const memoryMark = 'm'
const orderMax = 999_999_999_999_999

/** Uses one cursor for both lists: a position in the merged order is a position in each. */
async function listBoth(disk: Store, memory: Store, request: ListRequest): Promise<ListPage> {
  const from = parseListCursors(request.cursor)
  const [onDisk, inMemory] = await Promise.all([
    disk.list({ ...request, cursor: from.disk }),
    memory.list({ ...request, cursor: from.memory }),
  ])
  if (inMemory.sessions.length === 0) return onDisk
  // Each store counts its own creations, so the order of creation does not compare. The sort is stable.
  const both = [...inMemory.sessions, ...onDisk.sessions].toSorted((left, right) =>
    compareListPlaces({ ...left.position, order: 0 }, { ...right.position, order: 0 }),
  )
  const sessions = both.slice(0, request.limit)
  const last = sessions.at(-1)
  const hasMore = both.length > sessions.length || onDisk.next !== null || inMemory.next !== null
  if (!hasMore || last === undefined) return { sessions, next: null }
  return { sessions, next: `${inMemory.sessions.includes(last) ? memoryMark : ''}${encodeListCursor(last.position)}` }
}

/** After a session on disk, those in memory of the same moment were shown; after one in memory, those on disk were not. */
function parseListCursors(cursor: string | undefined): { readonly disk?: string; readonly memory?: string } {
  if (cursor === undefined) return {}
  const isInMemory = cursor.startsWith(memoryMark)
  const own = isInMemory ? cursor.slice(memoryMark.length) : cursor
  const place = decodeListCursor(own)
  if (!place.ok) throw new HoldfastError(place.fault)
  const sameMoment = (order: number) => encodeListCursor({ ...place.value, order })
  return isInMemory ? { disk: sameMoment(orderMax), memory: own } : { disk: own, memory: sameMoment(0) }
}

/** The cursors of a store that is at its first page and of one that has no more. */
const [begin, end] = ['b', 'e']

/** Returns a page of the best hits of both. The cursor holds the cursors of the disk and of the memory. */
async function searchBoth(disk: Store, memory: Store, request: SearchRequest): Promise<Result<SearchPage>> {
  const { cursor = `${begin}~${begin}` } = request
  const [, diskFrom, memoryFrom] = /^([\w.-]+)~([\w.-]+)$/.exec(cursor) ?? []
  if (diskFrom === undefined || memoryFrom === undefined) return refuse(badCursor(cursor))
  const [onDisk, inMemory] = await Promise.all([
    searchFrom(disk, request, diskFrom),
    searchFrom(memory, request, memoryFrom),
  ])
  if (!onDisk.ok) return onDisk
  if (!inMemory.ok) return inMemory
  const hits = [...inMemory.value.hits, ...onDisk.value.hits]
    .toSorted((left, right) => right.score - left.score)
    .slice(0, request.limit)
  const next = `${nextOf(onDisk.value, hits, diskFrom)}~${nextOf(inMemory.value, hits, memoryFrom)}`
  const isIndexing = onDisk.value.isIndexing ?? inMemory.value.isIndexing
  return ok({ hits, next: next === `${end}~${end}` ? null : next, ...(isIndexing && { isIndexing }) })
}

async function searchFrom(store: Store, request: SearchRequest, from: string): Promise<Result<SearchPage>> {
  if (from === end) return ok({ hits: [], next: null })
  return store.search({ ...request, cursor: from === begin ? undefined : from })
}

/** Returns the cursor after those hits of a store that are on the page. */
function nextOf({ hits, next }: SearchPage, shown: readonly SearchHit[], from: string): string {
  const count = hits.filter((hit) => shown.includes(hit)).length
  if (count === hits.length) return next ?? end
  return hits[count - 1]?.behind ?? from
}
