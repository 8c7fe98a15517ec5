import type { SessionId } from '@holdfast/protocol'
import type { Lease } from '../../ports/store/lease.ts'
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
  if (one) return stop(parts, id, one, reason, ({ lease }) => release(parts, id, lease, isEmpty(one)))
  await unloading.get(id)
  await endRest(parts, id)
}

/**
 * Takes an idle session out of memory; the next use loads it again. An empty one keeps its lease, which protects it from
 * being removed while a program may still hold it.
 */
export function unloadIdle(parts: RegistryState, id: SessionId): Promise<void> {
  const one = parts.loaded.get(id)
  if (!one || !isEmpty(one)) return unload(parts, id, 'stopped')
  parts.resting.set(id, one.lease)
  // A last command may have come while it stopped.
  return stop(parts, id, one, 'stopped', async () => (isEmpty(one) ? undefined : endRest(parts, id)))
}

const isEmpty = ({ runner }: LoadedRunner): boolean => !runner.folded().row.entry.spoken

/** Stops an empty session that left memory before. */
async function endRest(parts: RegistryState, id: SessionId): Promise<void> {
  const lease = parts.resting.get(id)
  if (!lease || parts.loaded.has(id)) return
  parts.resting.delete(id)
  await release(parts, id, lease, true)
}

function stop(
  parts: RegistryState,
  id: SessionId,
  one: LoadedRunner,
  reason: 'stopped' | 'closing',
  end: (one: LoadedRunner) => Promise<void>,
): Promise<void> {
  const { unloading } = parts
  forget(parts, id)
  const stopped = stopRunner(parts, id, one, reason).then(() => end(one))
  unloading.set(id, stopped)
  return stopped.finally(() => {
    if (unloading.get(id) === stopped) unloading.delete(id)
    parts.subagents.afterGone(id, true)
  })
}

async function stopRunner(
  { deps, news, subagents }: RegistryState,
  id: SessionId,
  { runner }: LoadedRunner,
  reason: 'stopped' | 'closing',
): Promise<void> {
  const left = await subagents.leave(id, reason)
  await runner.stop(reason).finally(left)
  await endBackground(deps, id) // what the last call of the session has started meanwhile
  news.publish({ type: 'session.stopped', session: id, reason })
}

/** Gives a lease back, so that any process may load the session. An empty one is removed. */
async function release(
  { deps, stores }: RegistryState,
  id: SessionId,
  { epoch }: Lease,
  isEmptySession: boolean,
): Promise<void> {
  const own = stores.storeOf(id)
  await own.release(id, deps.node.id, epoch)
  if (isEmptySession) await own.removeUnspoken([])
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
