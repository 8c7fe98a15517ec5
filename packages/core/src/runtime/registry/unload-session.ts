import type { SessionId } from '@holdfast/protocol'
import type { NodeDeps } from '../dependencies.ts'
import type { LoadedRunner, RegistryState } from './registry-state.ts'

/** Drops a session that no longer runs here. */
export function forget({ watchers, loaded }: RegistryState, id: SessionId): void {
  watchers.idleUnloader.forget(id)
  loaded.delete(id)
}

/** Stops a session and gives its lease back, so that any process may load it. */
export async function unload(parts: RegistryState, id: SessionId, reason: 'stopped' | 'closing'): Promise<void> {
  const { loaded, unloading } = parts
  const one = loaded.get(id)
  if (!one) return unloading.get(id)
  forget(parts, id)
  const released = release(parts, id, one, reason)
  unloading.set(id, released)
  return released.finally(() => {
    if (unloading.get(id) === released) unloading.delete(id)
    parts.subagents.afterGone(id, true)
  })
}

async function release(
  { deps, stores, news, subagents }: RegistryState,
  id: SessionId,
  { runner, lease }: LoadedRunner,
  reason: 'stopped' | 'closing',
): Promise<void> {
  const [own, left] = [stores.storeOf(id), await subagents.leave(id, reason)]
  await runner.stop(reason).finally(left)
  await endBackground(deps, id) // what the last call of the session has started meanwhile
  news.publish({ type: 'session.stopped', session: id, reason })
  await own.release(id, deps.node.id, lease.epoch)
  if (!runner.folded().row.entry.spoken) await own.removeUnspoken([])
}

/** Unloads every session, and takes this node off the list. */
export async function closeRegistry(parts: RegistryState): Promise<void> {
  const { deps, loaded, loading, unloading } = parts
  const { store, node, onProblem } = deps
  parts.isClosing = true
  parts.subagents.close()
  parts.owners.close()
  await Promise.allSettled(loading.values()) // the caller of load gets the error
  // One that cannot be released must not stop the others: its lease passes on once this node is gone.
  const leave = (id: SessionId) =>
    unload(parts, id, 'closing').catch((cause) => onProblem({ where: `unloading ${id}`, cause }))
  await Promise.all([...loaded.keys()].map(leave))
  await Promise.allSettled(unloading.values())
  await parts.watchers.autoTitle?.close()
  await endBackground(deps)
  await store.removeUnspoken([node.id])
  await store.removeNode(node.id)
}

/** Ends the commands that a session, or all of them, have running in the background. */
export const endBackground = async ({ tools }: NodeDeps, id?: SessionId): Promise<void> => tools.background?.end(id)
