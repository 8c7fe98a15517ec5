import {
  type DeleteOptions,
  type Fault,
  fault,
  invariant,
  type Meta,
  type NotRemovedReason,
  ok,
  type Removal,
  type Result,
  refuse,
} from '@holdfast/protocol'
import { findSession } from '../log/find-session.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { createRemovalSummary } from './removal-summary.ts'
import { createIsElsewhere, trashSession } from './trash-session.ts'

/** Moves the named session to the trash, pinned or not. Refused if it must stay. */
export async function deleteSession(
  registry: SessionRegistry,
  name: string,
  { force = false, dryRun = false }: DeleteOptions,
): Promise<Result<Removal>> {
  const { stores } = registry
  const id = await findSession(stores, name)
  if (!id.ok) return id
  const row = await stores.entry(id.value)
  if (row === null) return refuse(fault('session_not_found', `There is no session ${name}.`, { name }))
  const { meta } = row.entry
  const isElsewhere = createIsElsewhere(registry.deps)
  const trashed = await trashSession(registry, id.value, { isElsewhere, force, dryRun })
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
      const message = `A turn of ${handle} is running, or one of its questions is open. Abort it, or delete it with force.`
      return fault('turn_running', message, { session: id })
    }
    case 'attached': {
      const message = `Someone is attached to ${handle}. Let them leave, or delete it with force.`
      return fault('session_in_use', message, { session: id })
    }
    case 'open_elsewhere': {
      const owner = (await stores.entry(id))?.owner ?? null
      const message = `Session ${handle} is open in another process. Delete it there, or end that one first.`
      const since = (await deps.store.nodes()).find((node) => node.id === owner)?.startedAt
      return fault('session_locked', message, { session: id, node: owner, since })
    }
  }
}
