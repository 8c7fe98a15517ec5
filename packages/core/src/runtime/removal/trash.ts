import {
  createCommandId,
  type DeleteOptions,
  done,
  type Fault,
  fault,
  invariant,
  limits,
  type Meta,
  type NotRemovedReason,
  ok,
  type Removal,
  type Result,
  refuse,
  type SessionId,
  sessionNotFound,
} from '@holdfast/protocol'
import type { CatalogueEntry, Listed, ListRequest } from '../../ports/store/catalogue.ts'
import type { NodeRow } from '../../ports/store/lease.ts'
import type { NodeDeps } from '../dependencies.ts'
import { findSession } from '../log/find-session.ts'
import { claimSession } from '../registry/ownership.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import type { SessionRunner } from '../runner/session-runner.ts'
import { isRunning } from '../subagents/child-view.ts'
import { descendantsOf } from '../subagents/tree-usage.ts'

/** Moves the named session to the trash, pinned or not, or deletes it at once. Refused if it must stay. */
export async function deleteSession(
  registry: SessionRegistry,
  name: string,
  { force = false, dryRun = false, isForever = false }: DeleteOptions & { readonly isForever?: boolean },
): Promise<Result<Removal>> {
  const { stores } = registry
  const id = await findSession(stores, name)
  if (!id.ok) return id
  const row = await stores.entry(id.value)
  if (row === null) return refuse(sessionNotFound(name))
  const { meta } = row.entry
  const isElsewhere = createIsElsewhere(registry.deps)
  const trashed = await trashSession(registry, id.value, { isElsewhere, force, dryRun, isForever })
  if (!trashed.ok) return trashed
  if (trashed.value.type === 'stayed') return refuse(await whyNot(registry, meta, trashed.value.reason))
  const account = createRemovalSummary(dryRun)
  if (trashed.value.type === 'gone') account.went(meta)
  return ok(account.removal)
}

async function whyNot(
  { deps, stores }: SessionRegistry,
  { id, handle }: Meta,
  reason: NotRemovedReason,
): Promise<Fault> {
  invariant(reason !== 'pinned', 'a session that is named is deleted though it is pinned')
  switch (reason) {
    case 'running': {
      const message = `A turn of ${handle} is running or waits for an answer. Abort it, or delete it with force.`
      return fault('turn_running', message, { session: id })
    }
    case 'attached': {
      const message = `A client is attached to ${handle}. Close it, or delete the session with force.`
      return fault('session_in_use', message, { session: id })
    }
    case 'open_elsewhere': {
      const owner = (await stores.entry(id))?.owner ?? null
      const message = `Session ${handle} is open in another process. Delete it there, or end that process first.`
      const since = (await deps.store.nodes()).find((node) => node.id === owner)?.startedAt
      return fault('session_locked', message, { session: id, node: owner, since })
    }
  }
}

/** How many sessions are handled at once. */
const pageSize = 100

type Many = Pick<ListRequest, 'workspace' | 'activeBefore'> & {
  readonly dryRun: boolean
  /** Moves also sessions that run, have clients or are pinned. */
  readonly force?: boolean | undefined
  /** Stops between two pages. */
  readonly signal?: AbortSignal | undefined
}

/** Moves all matching sessions to the trash, except those open elsewhere and, unless forced, running, attached and pinned ones. */
export async function trashMany(registry: SessionRegistry, many: Many): Promise<Result<Removal>> {
  const { workspace, activeBefore, dryRun, force = false, signal } = many
  const account = createRemovalSummary(dryRun)
  const isElsewhere = createIsElsewhere(registry.deps)
  const options = {
    isElsewhere,
    dryRun,
    force,
    sparesPinned: !force,
    isMeant: ({ activeAt }: { readonly activeAt: number }) => activeBefore === undefined || activeAt < activeBefore,
  }
  let cursor: string | undefined
  do {
    const page = await registry.stores.list({ workspace, activeBefore, cursor, limit: pageSize })
    const all = page.sessions.map(async ({ meta }) => [meta, await trashSession(registry, meta.id, options)] as const)
    for (const [meta, trashed] of await Promise.all(all)) {
      // The sessions moved before stay in the trash; the fault says how many.
      if (!trashed.ok) {
        const { code, message, details } = trashed.fault
        return refuse(fault(code, message, { ...details, count: account.removal.count }))
      }
      if (trashed.value.type === 'gone') account.went(meta)
      if (trashed.value.type === 'stayed') account.stayed(meta, trashed.value.reason)
    }
    cursor = page.next ?? undefined
  } while (cursor !== undefined && !signal?.aborted)
  return ok(account.removal)
}

type TrashOptions = {
  readonly isElsewhere: IsElsewhere
  /** Stops and moves also a session that runs or has clients. */
  readonly force?: boolean | undefined
  readonly dryRun?: boolean | undefined
  /** Whether it is deleted permanently instead. */
  readonly isForever?: boolean | undefined
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

/** Moves one session to the trash, or deletes it. An unspoken one is deleted: there is nothing to restore. */
function trashSession(registry: SessionRegistry, id: SessionId, options: TrashOptions): Promise<Result<Trashed>> {
  return registry.runAlone(id, async () => {
    const row = await registry.stores.entry(id)
    if (row === null || row.trashedAt !== null) return ok({ type: 'passed' })
    const runner = registry.loaded(id)
    const entry = runner?.folded().row.entry ?? row.entry
    if (options.isMeant && !options.isMeant(entry)) return ok({ type: 'passed' })
    const isSpared = options.sparesPinned && entry.meta.pinned
    const reason = isSpared
      ? 'pinned'
      : await notRemovedReason({ ...entry, owner: row.owner }, runner, options.isElsewhere).then(
          (why) => why ?? (registry.subagents.below(id).some(isRunning) ? 'running' : null),
        )
    const stays = reason !== null && (!options.force || reason === 'open_elsewhere')
    if (stays) return ok({ type: 'stayed', reason })
    if (options.dryRun) return ok({ type: 'gone' })
    return putAway(registry, id, options.isForever ?? false)
  })
}

/** Moves a session to the trash with its subagents, or deletes them. */
async function putAway(registry: SessionRegistry, id: SessionId, isForever: boolean): Promise<Result<Trashed>> {
  const below: SessionId[] = []
  for await (const meta of descendantsOf(registry.stores, id, ['listed'])) if (meta.subagent) below.push(meta.id)
  const went = await putAwayOne(registry, id, isForever)
  if (!went.ok || went.value.type !== 'gone') return went
  for (const child of below) {
    // One that is open in another process stays there: it can be deleted by its own name.
    const gone = await registry.runAlone(child, () => putAwayOne(registry, child, isForever))
    if (!gone.ok) return gone
  }
  return went
}

async function putAwayOne(registry: SessionRegistry, id: SessionId, isForever: boolean): Promise<Result<Trashed>> {
  const store = registry.stores.storeOf(id)
  const freed = await free(registry, id)
  if (!freed.ok) return openElsewhere(freed)
  const row = await store.entry(id)
  const isKept = row?.entry.spoken === true && !isForever
  const went = isKept ? await store.trash(id, registry.deps.clock.now()) : await store.purge(id)
  // An unspoken session may have been removed with its last owner.
  if (!went.ok && went.fault.code !== 'session_not_found') return openElsewhere(went)
  registry.news.publish({ type: 'session.removed', session: id, tenant: row?.tenant })
  return ok({ type: 'gone' })
}

/** Stops the session here, and takes it over from a dead owner: a session in the trash has no owner. */
async function free(registry: SessionRegistry, id: SessionId): Promise<Result<void>> {
  const { store, node, isAlive } = registry.stores.depsOf(id)
  const runner = registry.loaded(id)
  if (runner) {
    const isRunning = runner.folded().state.turn.phase !== 'idle'
    // Whatever the answer, all work stops; what could not be recorded is settled at the next load.
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
function createIsElsewhere({ store, node, isAlive }: NodeDeps): IsElsewhere {
  let nodes: Promise<readonly NodeRow[]> | null = null
  const asked = new Map<string, Promise<boolean>>()
  const answers = async (owner: string) => {
    nodes ??= store.nodes()
    const row = (await nodes).find(({ id }) => id === owner)
    return row !== undefined && isAlive(row)
  }
  return async (owner) => {
    if (owner === null || owner === node.id) return false
    const answer = asked.get(owner) ?? answers(owner)
    asked.set(owner, answer)
    return answer
  }
}

/** Returns why a session must stay unless forced; null when it may go. `runner` is set if it is loaded here. */
async function notRemovedReason(
  { meta, busy, owner }: Pick<Listed, 'meta' | 'busy' | 'owner'>,
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

type Named = Pick<Meta, 'id' | 'handle' | 'title'>

/** Collects the result of a removal. All sessions are counted; only the first ones removed are named. */
export function createRemovalSummary(dryRun: boolean) {
  const gone: Removal['gone'] = []
  const stayed: Removal['stayed'] = []
  const workspaces = new Map<string, number>()
  let count = 0
  const nameOf = ({ id, handle, title }: Named) => ({ id, handle, title })
  return {
    went(session: Named & Pick<Meta, 'workspace'>): void {
      count += 1
      if (gone.length < limits.removalNamesMax) gone.push(nameOf(session))
      const { workspace } = session
      const known = workspaces.get(workspace) ?? 0
      if (known > 0 || workspaces.size < limits.removalNamesMax) workspaces.set(workspace, known + 1)
    },
    stayed(session: Named, reason: NotRemovedReason): void {
      stayed.push({ ...nameOf(session), reason })
    },
    get removal(): Removal {
      const counts = [...workspaces].map(([workspace, of]) => ({ workspace, count: of }))
      return { count, gone, workspaces: counts, stayed, dryRun }
    },
  }
}
