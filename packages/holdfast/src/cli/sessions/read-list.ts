import type { ListRequest } from '@holdfast/core/ports'
import type { Meta, SessionList } from '@holdfast/protocol'
import { limits } from '@holdfast/protocol/limits'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { withTrashedAt } from '@holdfast/protocol/trashed-at'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import type { ReadOnlyStore } from '../../store/read-only-store.ts'
import type { CliContext } from '../context/cli-context.ts'
import { readOwnedStatus } from './read-owned-status.ts'
import { diskStoreOf, missingStore } from './resolve-store.ts'

export type Wanted = Omit<ListRequest, 'runningAt'> & {
  /** Only sessions at work, wherever. */
  readonly running?: boolean | undefined
}

/** A list of the store, read on this thread: of `limit` sessions, which may be more than a page. */
export async function readStoredList(place: CliContext, wanted: Wanted): Promise<Result<SessionList>> {
  const store = diskStoreOf(place)
  if (!store.ok) return store
  const missing = missingStore(place)
  if (missing !== null) return refuse(missing)
  const source = await openReadOnlyStore(store.value)
  if (!source.ok) return source
  if (source.value === null) return ok({ sessions: [], next: null })
  try {
    return ok(await readList(source.value, wanted))
  } finally {
    await source.value.close()
  }
}

/** One page of the store after another, until there are as many as asked for. */
async function readList(source: ReadOnlyStore, { limit, running, ...wanted }: Wanted): Promise<SessionList> {
  const sessions: Meta[] = []
  const runningAt = running ? await livingIds(source) : undefined
  let { cursor } = wanted
  for (;;) {
    const size = Math.min(limit - sessions.length, limits.listSessionsMax)
    const { sessions: rows, next } = await source.list({ ...wanted, runningAt, cursor, limit: size })
    const metas = await readOwnedStatus(rows, source)
    sessions.push(...metas.map((meta, index) => withTrashedAt(meta, rows[index]?.trashedAt)))
    if (next === null || sessions.length >= limit) return { sessions, next }
    cursor = next
  }
}

async function livingIds(source: ReadOnlyStore): Promise<readonly string[]> {
  const { findLiveNodes } = await import('../../system/node/live-nodes.ts')
  return (await findLiveNodes(source)).map(({ id }) => id)
}
