import {
  ClearOptions,
  DeleteOptions,
  EmptyTrashOptions,
  limits,
  type Meta,
  ok,
  PruneOptions,
  parseOptions,
  type Removal,
  type Result,
  refuse,
  type SessionId,
  type Sessions,
  sessionNotFound,
} from '@holdfast/protocol'
import type { Log } from '../../ports/store/log.ts'
import { findStored, withWorkspace } from '../log/find-session.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { descendantsOf } from '../subagents/tree-usage.ts'
import { sweepBlobs, sweepTokens } from './sweeps.ts'
import { createRemovalSummary, deleteSession, trashMany } from './trash.ts'

/** Moves sessions to the trash and back, and deletes them. */
export function createRemovals(
  registry: SessionRegistry,
): Pick<Sessions, 'delete' | 'purge' | 'clearAll' | 'prune' | 'restore' | 'emptyTrash'> {
  return {
    delete: (name, given = {}) => parse(DeleteOptions, given, (options) => deleteSession(registry, name, options)),
    purge: (name, given = {}) =>
      parse(DeleteOptions, given, async (options) => sweepAfter(registry, await purgeSession(registry, name, options))),
    clearAll: (given = {}) =>
      parse(ClearOptions, given, async (options) => {
        const { workspace, force, dryRun = false } = await withWorkspace(registry.deps, options)
        return trashMany(registry, { workspace, force, dryRun })
      }),
    prune: (given) =>
      parse(PruneOptions, given, async (options) => {
        const { before, workspace, dryRun = false } = await withWorkspace(registry.deps, options)
        return trashMany(registry, { workspace, activeBefore: Date.parse(before), dryRun })
      }),
    restore: (name) => restoreSession(registry, name),
    emptyTrash: (given = {}) =>
      parse(EmptyTrashOptions, given, async ({ before, dryRun = false }) => {
        const beforeMs = before === undefined ? undefined : Date.parse(before)
        return sweepAfter(registry, await emptyTrash(registry, { dryRun, beforeMs }))
      }),
  }
}

/** Deletes what only the removed sessions used; a failed sweep does no harm. */
async function sweepAfter(registry: SessionRegistry, removed: Result<Removal>): Promise<Result<Removal>> {
  if (!removed.ok || removed.value.count === 0 || removed.value.dryRun) return removed
  const { onProblem } = registry.deps
  await sweepTokens(registry).catch((cause) => onProblem({ where: 'revoking tokens', cause }))
  await sweepBlobs(registry.deps).catch((cause) => onProblem({ where: 'sweeping blobs', cause }))
  return removed
}

/** Deletes the named session permanently: out of the trash, or at once. */
async function purgeSession(registry: SessionRegistry, name: string, options: DeleteOptions): Promise<Result<Removal>> {
  const id = await findStored(registry.stores, name)
  if (!id.ok) return id
  const row = await registry.stores.entry(id.value)
  if (row === null) return refuse(sessionNotFound(name))
  if (row.trashedAt === null) return deleteSession(registry, id.value, { ...options, isForever: true })
  const { meta } = row.entry
  const account = createRemovalSummary(options.dryRun ?? false)
  const removed = options.dryRun ? ok<Removed>('gone') : await removeFrom(registry, meta, row.trashedAt)
  if (!removed.ok) return removed
  if (removed.value === 'gone') account.went(meta)
  if (removed.value === 'locked') account.stayed(meta, 'open_elsewhere')
  return ok(account.removal)
}

async function parse<Options extends Parameters<typeof parseOptions>[0]>(
  schema: Options,
  given: unknown,
  work: (options: Options['_zod']['output']) => Promise<Result<Removal>>,
): Promise<Result<Removal>> {
  const parsed = parseOptions(schema, given, 'remove sessions')
  return parsed.ok ? work(parsed.value) : parsed
}

/** Restores a session from the trash. A session that is not in it stays as it is. */
async function restoreSession(registry: SessionRegistry, name: string): Promise<Result<Meta>> {
  const id = await findStored(registry.stores, name)
  if (!id.ok) return id
  const store = registry.stores.storeOf(id.value)
  const before = await store.entry(id.value)
  const restored = await store.restore(id.value)
  if (!restored.ok) return restored
  const row = await store.entry(id.value)
  if (row === null) return refuse(sessionNotFound(name))
  const session = registry.withAttachments(row.entry.meta)
  if (before?.trashedAt != null) registry.news.publish({ type: 'session.restored', session })
  await restoreChildren(registry, id.value)
  return ok(session)
}

/** Restores the subagents that went to the trash with a session. */
async function restoreChildren({ stores }: SessionRegistry, id: SessionId): Promise<void> {
  for await (const { id: child, subagent } of descendantsOf(stores, id))
    if (subagent && (await stores.entry(child))?.trashedAt != null) await stores.storeOf(child).restore(child)
}

const pageSize = 100

type EmptyOptions = {
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
    const tenant = (await registry.stores.entry(id))?.tenant
    const purged = await registry.stores.storeOf(id).purge(id, { trashedAt })
    if (purged.ok) {
      registry.news.publish({ type: 'session.removed', session: id, tenant })
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
