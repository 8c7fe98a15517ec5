import { createCommandId, done, type NotRemovedReason, ok, type Result, type SessionId } from '@holdfast/protocol'
import type { CatalogueEntry, Listed } from '../../ports/catalogue.ts'
import type { NodeDeps } from '../dependencies.ts'
import { claimSession } from '../registry/ownership.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import type { SessionRunner } from '../runner/session-runner.ts'

type TrashOptions = {
  readonly isElsewhere: IsElsewhere
  /** Stops and moves also a session that runs or has clients. */
  readonly force?: boolean | undefined
  readonly dryRun?: boolean | undefined
  /** Whether a pinned session stays. */
  readonly sparesPinned?: boolean | undefined
  /** Whether the session still matches: someone may have spoken in it since it was listed. */
  readonly isMeant?: ((entry: CatalogueEntry) => boolean) | undefined
}

/** Moved (or would be); stayed, and why; or no longer a match. */
type Trashed =
  | { readonly type: 'gone' }
  | { readonly type: 'stayed'; readonly reason: NotRemovedReason }
  | { readonly type: 'passed' }

/** Moves one session to the trash. An unspoken one is deleted: there is nothing to restore. */
export function trashSession(
  registry: SessionRegistry,
  id: SessionId,
  options: TrashOptions,
): Promise<Result<Trashed>> {
  return registry.runAlone(id, async () => {
    const row = await registry.stores.entry(id)
    if (row === null || row.trashedAt !== null) return ok({ type: 'passed' })
    const runner = registry.awake(id)
    const entry = runner?.folded().row.entry ?? row.entry
    if (options.isMeant && !options.isMeant(entry)) return ok({ type: 'passed' })
    const isSpared = options.sparesPinned && entry.meta.pinned
    const reason = isSpared
      ? 'pinned'
      : await notRemovedReason({ ...entry, owner: row.owner }, runner, options.isElsewhere)
    const stays = reason !== null && (!options.force || reason === 'open_elsewhere')
    if (stays) return ok({ type: 'stayed', reason })
    if (options.dryRun) return ok({ type: 'gone' })
    return putAway(registry, id)
  })
}

async function putAway(registry: SessionRegistry, id: SessionId): Promise<Result<Trashed>> {
  const store = registry.stores.storeOf(id)
  const freed = await free(registry, id)
  if (!freed.ok) return openElsewhere(freed)
  const row = await store.entry(id)
  const went = row?.entry.spoken ? await store.trash(id, registry.deps.clock.now()) : await store.purge(id)
  // An unspoken session may have been removed with its last owner.
  if (!went.ok && went.fault.code !== 'session_not_found') return openElsewhere(went)
  registry.news.tell({ type: 'session.removed', session: id })
  return ok({ type: 'gone' })
}

/** Stops the session here, and takes it over from a dead owner: a session in the trash has no owner. */
async function free(registry: SessionRegistry, id: SessionId): Promise<Result<void>> {
  const { store, node, isAlive } = registry.stores.depsOf(id)
  const runner = registry.awake(id)
  if (runner) {
    const isRunning = runner.folded().state.turn.phase !== 'idle'
    // Whatever the answer, all work stops; what could not be recorded is settled at the next wake.
    if (isRunning) await runner.submit({ commandId: createCommandId(), by: null, command: { type: 'abort' } })
    await registry.unload(id)
  }
  const owner = (await store.entry(id))?.owner ?? null
  if (owner === null) return done
  const claimed = await claimSession({ store, node, isAlive }, id)
  if (!claimed.ok) return claimed
  await store.release(id, node.id, claimed.value.lease.epoch)
  return done
}

/** Another process opened the session first. */
function openElsewhere(refusal: Extract<Result<void>, { ok: false }>): Result<Trashed> {
  return refusal.fault.code === 'session_locked' ? ok({ type: 'stayed', reason: 'open_elsewhere' }) : refusal
}

/** Whether an owner is another process that is alive. */
type IsElsewhere = (owner: string | null) => Promise<boolean>

/** Asks each owner once, however many sessions it has. */
export function createIsElsewhere({ store, node, isAlive }: NodeDeps): IsElsewhere {
  const nodes = lazily(() => store.nodes())
  const asked = new Map<string, Promise<boolean>>()
  const answers = async (owner: string) => {
    const row = (await nodes()).find(({ id }) => id === owner)
    return row !== undefined && isAlive(row)
  }
  return async (owner) => {
    if (owner === null || owner === node.id) return false
    const answer = asked.get(owner) ?? answers(owner)
    asked.set(owner, answer)
    return answer
  }
}

function lazily<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null
  return () => {
    made ??= make()
    return made
  }
}

type RemovalCandidate = Pick<Listed, 'meta' | 'busy' | 'owner'>

/** Returns why a session must stay unless forced; null when it may go. `runner` is set if it is awake here. */
async function notRemovedReason(
  { meta, busy, owner }: RemovalCandidate,
  runner: SessionRunner | null,
  isElsewhere: IsElsewhere,
): Promise<NotRemovedReason | null> {
  if (runner) return reasonHere(runner)
  if (await isElsewhere(owner)) return 'open_elsewhere'
  // A busy row without a live owner was interrupted. One in a turn that is not busy waits for an approval.
  const isAsking = !busy && (meta.status === 'thinking' || meta.status === 'tool_executing')
  return isAsking ? 'running' : null
}

function reasonHere({ folded, hub, isWriting }: SessionRunner): NotRemovedReason | null {
  if (folded().state.turn.phase !== 'idle' || isWriting()) return 'running'
  return hub.attached > 0 ? 'attached' : null
}
