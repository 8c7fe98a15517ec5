import type { Listed, ListRequest } from '@holdfast/core/ports'
import type { Meta, SessionList } from '@holdfast/protocol'
import { limits } from '@holdfast/protocol/limits'
import { withTrashedAt } from '@holdfast/protocol/trashed-at'
import type { ReadOnlyStore } from '../../store/read-only-store.ts'
import { openStoreToRead } from '../connect/resolve-store.ts'
import type { CliContext } from '../terminal/cli-context.ts'

export type StoredListRequest = Omit<ListRequest, 'runningAt'> & { readonly running?: boolean | undefined }

/** Reads a list from the store on this thread. `limit` may be more than a page. */
export async function readStoredList(context: CliContext, request: StoredListRequest): Promise<SessionList> {
  if (context.server) return (await import('./remote.ts')).readRemoteList(context.server, request)
  const source = (await openStoreToRead(context))?.source
  return source ? readPages(source, request).finally(source.close) : { sessions: [], next: null }
}

async function readPages(source: ReadOnlyStore, asked: StoredListRequest): Promise<SessionList> {
  const { limit, running, ...request } = asked
  const sessions: Meta[] = []
  const runningAt = running ? await findLiveNodeIds(source) : undefined
  let { cursor } = request
  for (;;) {
    const size = Math.min(limit - sessions.length, limits.listSessionsMax)
    const { sessions: rows, next } = await source.list({ ...request, runningAt, cursor, limit: size })
    const metas = await withOwnedStatus(rows, source)
    sessions.push(...metas.map((meta, index) => withTrashedAt(meta, rows[index]?.trashedAt)))
    if (next === null || sessions.length >= limit) return { sessions, next }
    cursor = next
  }
}

/** Returns the rows with busy sessions of dead owners shown as interrupted. Loads nothing if no session is busy. */
async function withOwnedStatus(rows: readonly Listed[], source: ReadOnlyStore): Promise<readonly Meta[]> {
  if (!rows.some(({ busy }) => busy)) return rows.map(({ meta }) => meta)
  const { busyOwners, ownedStatus } = await import('@holdfast/core/ports')
  const metas = ownedStatus(rows, new Set(await findLiveNodeIds(source, busyOwners(rows))))
  if (!metas.some(({ status }) => status === 'interrupted')) return metas
  return (await import('@holdfast/core/waiting-children')).showWaiting(source, metas)
}

async function findLiveNodeIds(source: ReadOnlyStore, ids?: ReadonlySet<string>): Promise<readonly string[]> {
  const { findLiveNodes } = await import('../../system/node/node-socket.ts')
  return (await findLiveNodes(source, ids)).map(({ id }) => id)
}
