import { limits, type Meta, ok, type Removal, type Result, type SessionId } from '@holdfast/protocol'
import type { Log } from '../../ports/log.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { createRemovalSummary } from './removal-summary.ts'

const pageSize = 100

export type EmptyOptions = {
  /** Only sessions trashed before this time, in milliseconds. */
  readonly beforeMs?: number | undefined
  readonly dryRun: boolean
  /** Whether to spare sessions with unreadable records: they may be repaired. */
  readonly sparesDamaged?: boolean | undefined
  /** Stops between two sessions. */
  readonly signal?: AbortSignal | undefined
}

/** Deletes the sessions in the trash, one after the other: a long one may take time. */
export async function emptyTrash(registry: SessionRegistry, options: EmptyOptions): Promise<Result<Removal>> {
  const { list, storeOf } = registry.stores
  const { beforeMs: trashedBefore, dryRun, sparesDamaged = false, signal } = options
  const account = createRemovalSummary(dryRun)
  let cursor: string | undefined
  do {
    const page = await list({ trashed: true, trashedBefore, cursor, limit: pageSize })
    for (const { meta, trashedAt } of page.sessions) {
      if (signal?.aborted) return ok(account.removal)
      if (trashedAt === null) continue
      if (sparesDamaged && !(await isWhole(storeOf(meta.id), meta.id, signal))) continue
      const removed = dryRun ? ok<Removed>('gone') : await removeFrom(registry, meta, trashedAt)
      if (!removed.ok) return removed
      if (removed.value === 'gone') account.went(meta)
      if (removed.value === 'locked') account.stayed(meta, 'open_elsewhere')
    }
    cursor = page.next ?? undefined
  } while (cursor !== undefined && !signal?.aborted)
  return ok(account.removal)
}

/** Deleted; open in another process; or no longer in the trash as it was listed. */
type Removed = 'gone' | 'locked' | 'passed'

function removeFrom(registry: SessionRegistry, { id }: Meta, trashedAt: number): Promise<Result<Removed>> {
  return registry.runAlone(id, async () => {
    const purged = await registry.stores.storeOf(id).purge(id, { trashedAt })
    if (purged.ok) {
      registry.news.tell({ type: 'session.removed', session: id })
      return ok('gone')
    }
    const { code } = purged.fault
    if (code === 'session_locked') return ok('locked')
    return code === 'session_not_found' || code === 'session_not_trashed' ? ok('passed') : purged
  })
}

/** Whether every record of the session can be read; false when `signal` aborts first. */
async function isWhole(store: Log, id: SessionId, signal: AbortSignal | undefined): Promise<boolean> {
  for (let after = 0; !signal?.aborted; ) {
    const page = await store.read(id, { after, limit: limits.pageRecordsMax })
    if (page.some((record) => 'lost' in record)) return false
    const last = page.at(-1)
    if (last === undefined) return true
    after = last.seq
  }
  return false
}
