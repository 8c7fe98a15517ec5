import type { ListRequest } from '@holdfast/core/ports'
import { HoldfastError } from '@holdfast/protocol'
import {
  compareListPlaces,
  decodeListCursor,
  encodeListCursor,
  type ListCursor,
  type PlacedListed,
  type PlacedPage,
  type PlacedStore,
} from '../list-cursor.ts'

/** Marks a cursor that stands behind a session in memory; without it, it is one of the disk's own. */
const memoryMark = 'm'
const orderMax = 999_999_999_999_999

/**
 * One page of both lists in their order, memory before disk where only birth would tell: each counts its own. One cursor
 * serves both, since a place in the merged order is a place in each.
 */
export async function listBoth(disk: PlacedStore, memory: PlacedStore, request: ListRequest): Promise<PlacedPage> {
  const from = cursorsAt(request.cursor)
  const [onDisk, inMemory] = await Promise.all([
    disk.list({ ...request, cursor: from.disk }),
    memory.list({ ...request, cursor: from.memory }),
  ])
  if (inMemory.sessions.length === 0) return onDisk

  // Equal rows stay in this order: memory first.
  const both = [...inMemory.sessions, ...onDisk.sessions].toSorted((left, right) =>
    compareListPlaces({ ...left.place, order: 0 }, { ...right.place, order: 0 }),
  )
  const sessions = both.slice(0, request.limit)
  const last = sessions.at(-1)
  const hasMore = both.length > sessions.length || onDisk.next !== null || inMemory.next !== null
  if (!hasMore || last === undefined) return { sessions, next: null }
  return { sessions, next: cursorBehind(last, inMemory.sessions.includes(last)) }
}

function cursorBehind({ place }: PlacedListed, isInMemory: boolean): string {
  return `${isInMemory ? memoryMark : ''}${encodeListCursor(place)}`
}

type Cursors = { readonly disk: string | undefined; readonly memory: string | undefined }

/** Where each list goes on: behind a session on disk, memory's of the same moment are past; the other way, they are not. */
function cursorsAt(cursor: string | undefined): Cursors {
  if (cursor === undefined) return { disk: undefined, memory: undefined }
  const isInMemory = cursor.startsWith(memoryMark)
  const own = isInMemory ? cursor.slice(memoryMark.length) : cursor
  const place = decodeListCursor(own)
  if (!place.ok) throw new HoldfastError(place.fault)
  const sameMoment = (order: number) => encodeListCursor({ ...place.value, order } satisfies ListCursor)
  return isInMemory ? { disk: sameMoment(orderMax), memory: own } : { disk: own, memory: sameMoment(0) }
}
