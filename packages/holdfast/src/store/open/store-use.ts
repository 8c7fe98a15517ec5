import { type Fault, fault } from '@holdfast/protocol/fault'
import { findLiveNodes } from '../../system/node-socket.ts'
import { findDirectoryHolder } from '../jsonl/files/directory-lock.ts'
import { everySession, type ReadOnlyStore } from '../read-only-store.ts'
import type { DiskLocation } from './store-location.ts'

const namedMax = 10

/** Why a store may not be changed from here: another process has it. Null when none does. */
export async function useOf(place: DiskLocation, source: Pick<ReadOnlyStore, 'nodes'>): Promise<Fault | null> {
  if (place.kind === 'jsonl') return findDirectoryHolder(place.path)
  const [node] = await findLiveNodes(source)
  if (node === undefined) return null
  const message = `The store at ${place.path} is open in another process, since ${node.startedAt}. End that one first.`
  return fault('session_locked', message, {
    node: node.id,
    address: node.address,
    since: node.startedAt,
    path: place.path,
  })
}

/** Why a store may not be copied for good: someone works in its sessions, and they would go on without the copy. */
export async function workIn(place: DiskLocation, source: ReadOnlyStore): Promise<Fault | null> {
  if (place.kind === 'jsonl') return findDirectoryHolder(place.path)
  const living = new Set((await findLiveNodes(source)).map(({ id }) => id))
  const open: string[] = []
  if (living.size > 0) {
    for await (const { id, owner } of everySession(source)) {
      if (owner !== null && living.has(owner)) open.push(id)
      if (open.length >= namedMax) break
    }
  }
  if (open.length === 0) return null
  const message = `Sessions of ${place.url} are open in another process: ${open.join(', ')}. End it first.`
  return fault('session_locked', message, { sessions: open, path: place.path })
}
