import {
  ClearOptions,
  DeleteOptions,
  EmptyTrashOptions,
  explainIssue,
  fault,
  limits,
  type Meta,
  ok,
  PruneOptions,
  type Result,
  refuse,
  type Sessions,
} from '@holdfast/protocol'
import type { AreUsed, BlobSweep } from '../../ports/blobs.ts'
import type { NodeDeps } from '../dependencies.ts'
import { findStored } from '../log/find-session.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { deleteSession } from './delete-session.ts'
import { emptyTrash } from './empty-trash.ts'
import { trashMany } from './trash-many.ts'

type Removals = Pick<Sessions, 'delete' | 'clearAll' | 'prune' | 'restore' | 'emptyTrash'>

/** Moves sessions to the trash and back, and deletes them. */
export function createRemovals(registry: SessionRegistry): Removals {
  return {
    async delete(name, given = {}) {
      const options = parse(DeleteOptions, given)
      return options.ok ? deleteSession(registry, name, options.value) : options
    },

    async clearAll(given = {}) {
      const options = parse(ClearOptions, given)
      if (!options.ok) return options
      const { workspace, dryRun = false } = options.value
      return trashMany(registry, { workspace, dryRun })
    },

    async prune(given) {
      const options = parse(PruneOptions, given)
      if (!options.ok) return options
      const { before, workspace, dryRun = false } = options.value
      return trashMany(registry, { workspace, activeBefore: Date.parse(before), dryRun })
    },

    restore: (name) => restoreSession(registry, name),

    async emptyTrash(given = {}) {
      const options = parse(EmptyTrashOptions, given)
      if (!options.ok) return options
      const { before, dryRun = false } = options.value
      const emptied = await emptyTrash(registry, {
        dryRun,
        ...(before !== undefined && { beforeMs: Date.parse(before) }),
      })
      // Sweeps the blobs that only they referred to; a failed sweep does no harm.
      if (!dryRun && emptied.ok && emptied.value.count > 0)
        await sweepBlobs(registry.deps).catch((cause) => registry.deps.onProblem({ where: 'sweeping blobs', cause }))
      return emptied
    },
  }
}

type Schema<Value> = {
  safeParse(
    given: unknown,
  ): { readonly success: true; readonly data: Value } | { readonly success: false; readonly error: Issues }
}
type Issues = Parameters<typeof explainIssue>[0]

function parse<Value>(schema: Schema<Value>, given: unknown): Result<Value> {
  const parsed = schema.safeParse(given)
  return parsed.success
    ? ok(parsed.data)
    : refuse(fault('bad_request', `Cannot remove sessions: ${explainIssue(parsed.error)}.`))
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
  if (row === null) return refuse(fault('session_not_found', `There is no session ${name}.`, { name }))
  const session = registry.withAttachments(row.entry.meta)
  if (before?.trashedAt != null) registry.news.tell({ type: 'session.restored', session })
  return ok(session)
}

/** Deletes the blobs that no record refers to, on disk and in memory, until `signal` aborts. */
export async function sweepBlobs(
  { blobs, memoryBlobs, store, memoryStore, clock }: NodeDeps,
  signal?: AbortSignal | undefined,
): Promise<BlobSweep> {
  const options = { now: clock.now(), graceMs: limits.blobGraceMs, signal }
  // Asked for at the first old blob: without one, no store has to be read.
  let asked: Promise<readonly AreUsed[]> | null = null
  const areUsed: AreUsed = async (hashes) => {
    asked ??= Promise.all([...new Set([store, memoryStore])].map((one) => one.blobsInUse(signal)))
    const used = await Promise.all((await asked).map((one) => one(hashes)))
    return used.reduce((all, some) => all.union(some))
  }
  const swept = await Promise.all([...new Set([blobs, memoryBlobs])].map((one) => one.sweep(areUsed, options)))
  return swept.reduce((sum, one) => ({
    removed: sum.removed + one.removed,
    bytes: sum.bytes + one.bytes,
    setAside: sum.setAside + one.setAside,
  }))
}
