import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { NodeRow } from '@holdfast/core/ports'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { isInside } from '../../system/files/resolve-path.ts'
import { findLiveNodes } from '../../system/node/node-socket.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { createJsonlAdmin } from '../jsonl/admin/jsonl-admin.ts'
import { findDirectoryHolder } from '../jsonl/files/directory-lock.ts'
import { everySession, type ReadOnlyStore } from '../read-only-store.ts'
import { createSqliteAdmin } from '../sqlite/admin/sqlite-admin.ts'
import type { StoreAdmin } from '../store-admin.ts'
import type { DiskLocation, SavedLocation } from './store-location.ts'

/** Returns the admin of a store. */
export function adminOf({ kind, path }: DiskLocation): StoreAdmin {
  switch (kind) {
    case 'sqlite':
      return createSqliteAdmin(path)
    case 'jsonl':
      return createJsonlAdmin(path)
  }
}

/** Returns a fault if `path`, with links resolved, is the store itself or inside it: a copy cannot be there. */
export async function findInsideFault(store: DiskLocation, path: string): Promise<Fault | null> {
  const real = await realPathOf(path)
  for (const own of [store.path, store.blobsDir]) {
    if (!isInside(await realPathOf(own), real)) continue
    const message = `${path} is inside the store ${store.url}. Choose another path for the copy.`
    return fault('bad_request', message, { store: store.url, path })
  }
  return null
}

/** Resolves links in the part of the path that exists. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT' || dirname(path) === path) throw error
    return join(await realPathOf(dirname(path)), basename(path))
  }
}

/** Returns the nodes that are alive: the store knows it, or their sockets answer. */
export const findNodesAlive = (source: Pick<ReadOnlyStore, 'nodes' | 'liveNodes'>): Promise<readonly NodeRow[]> =>
  source.liveNodes?.() ?? findLiveNodes(source)

const namesMax = 10

/** Returns a fault if another process has the store open. */
export async function findOpenFault(
  location: DiskLocation,
  source: Pick<ReadOnlyStore, 'nodes'>,
): Promise<Fault | null> {
  switch (location.kind) {
    case 'jsonl':
      return findDirectoryHolder(location.path)
    case 'sqlite':
      return findLiveNodeFault(location, source)
  }
}

async function findLiveNodeFault(location: DiskLocation, source: Pick<ReadOnlyStore, 'nodes'>): Promise<Fault | null> {
  const [node] = await findLiveNodes(source)
  if (node === undefined) return null
  const message = `The store at ${location.path} has been open in another process since ${node.startedAt}. Stop that process first.`
  return fault('session_locked', message, {
    node: node.id,
    address: node.address,
    since: node.startedAt,
    path: location.path,
  })
}

/** Returns a fault if another process has sessions of the store open: a migration would miss their next records. */
export async function findBusyFault(location: SavedLocation, source: ReadOnlyStore): Promise<Fault | null> {
  switch (location.kind) {
    case 'jsonl':
      return findDirectoryHolder(location.path)
    case 'sqlite':
    case 'postgres':
      return findOpenSessionsFault(location, source)
  }
}

async function findOpenSessionsFault({ url }: SavedLocation, source: ReadOnlyStore): Promise<Fault | null> {
  const liveNodes = new Set((await findNodesAlive(source)).map(({ id }) => id))
  const open: string[] = []
  if (liveNodes.size > 0) {
    for await (const { id, owner } of everySession(source)) {
      if (owner !== null && liveNodes.has(owner)) open.push(id)
      if (open.length >= namesMax) break
    }
  }
  if (open.length === 0) return null
  const message = `Another process has sessions of ${url} open: ${open.join(', ')}. Stop it first.`
  return fault('session_locked', message, { sessions: open, store: url })
}
