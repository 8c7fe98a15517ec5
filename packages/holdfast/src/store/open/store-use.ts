import { type Fault, fault } from '@holdfast/protocol/fault'
import { findLiveNodes } from '../../system/node/node-socket.ts'
import { findDirectoryHolder } from '../jsonl/files/directory-lock.ts'
import { everySession, type ReadOnlyStore } from '../read-only-store.ts'
import type { DiskLocation } from './store-location.ts'

const namesMax = 10

/** Returns a fault if another process has the store open. */
export async function findOpenFault(place: DiskLocation, source: Pick<ReadOnlyStore, 'nodes'>): Promise<Fault | null> {
  if (place.kind === 'jsonl') return findDirectoryHolder(place.path)
  const [node] = await findLiveNodes(source)
  if (node === undefined) return null
  const message = `The store at ${place.path} has been open in another process since ${node.startedAt}. Stop that process first.`
  return fault('session_locked', message, {
    node: node.id,
    address: node.address,
    since: node.startedAt,
    path: place.path,
  })
}

/** Returns a fault if another process has sessions of the store open: a migration would miss their next records. */
export async function findBusyFault(place: DiskLocation, source: ReadOnlyStore): Promise<Fault | null> {
  if (place.kind === 'jsonl') return findDirectoryHolder(place.path)
  const liveNodes = new Set((await findLiveNodes(source)).map(({ id }) => id))
  const open: string[] = []
  if (liveNodes.size > 0) {
    for await (const { id, owner } of everySession(source)) {
      if (owner !== null && liveNodes.has(owner)) open.push(id)
      if (open.length >= namesMax) break
    }
  }
  if (open.length === 0) return null
  const message = `Another process has sessions of ${place.url} open: ${open.join(', ')}. Stop it first.`
  return fault('session_locked', message, { sessions: open, path: place.path })
}
