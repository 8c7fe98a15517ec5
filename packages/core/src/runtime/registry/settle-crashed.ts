import type { NodeRow } from '../../ports/lease.ts'
import { isAtWork } from '../../session/state.ts'
import type { NodeDeps } from '../node-deps.ts'
import type { SessionRegistry } from './session-registry.ts'

/** Settles what dead nodes left open, removes what nobody spoke in, and returns the dead. */
export async function settleCrashed(
  { store, node, isAlive, onProblem }: NodeDeps,
  { wake, unload }: Pick<SessionRegistry, 'wake' | 'unload'>,
): Promise<readonly NodeRow[]> {
  const busy = await store.busy() // before the nodes: whoever owns one of these has registered, if it lives
  const others = (await store.nodes()).filter(({ id }) => id !== node.id)
  const answers = await Promise.all(others.map(isAlive))
  const gone = others.filter((_, index) => !answers[index])
  const dead = gone.map(({ id }) => id)
  const living = new Set([node.id, ...others.flatMap(({ id }, index) => (answers[index] ? [id] : []))])
  for (const { session, owner } of busy) {
    // One whose owner nobody knows any more is as one whose owner is dead: a catalogue may be behind its nodes.
    if (owner !== null && living.has(owner)) continue
    const where = `settling ${session}`
    // One session that cannot be settled must not keep the others from it, nor the node from starting.
    try {
      const woken = await wake(session)
      // One that still has a question with a deadline stays awake: someone must watch the clock.
      if (woken.ok && !isAtWork(woken.value.folded().state)) await unload(session)
      if (woken.ok) continue
      if (woken.fault.code !== 'session_locked') onProblem({ where, cause: woken.fault })
    } catch (cause) {
      onProblem({ where, cause })
    }
  }
  await store.removeUnspoken(dead)
  for (const id of dead) await store.removeNode(id)
  return gone
}
