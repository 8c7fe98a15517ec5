import { fault, type SessionId } from '@holdfast/protocol'
import { childOf, type OpenChild } from '../../session/open-child.ts'
import { abortableDelay } from '../abortable-delay.ts'
import type { SessionRunner } from '../runner/session-runner.ts'
import { dropLost } from './ownership.ts'
import type { RegistryState } from './registry-state.ts'
import type { SessionRegistry } from './session-registry.ts'

/** What a node of a cluster does when it loses its term, gets it back, and leaves. */
export interface Membership {
  /** Stops all work and refuses all input: the term of this node ends soon, and others may take its sessions over. */
  suspend(): void
  /** Goes on after `suspend`: gives up the sessions that others took over, and loads the rest again from their logs. */
  resume(): Promise<void>
  /**
   * Hands all sessions over to other nodes, each with its subagents: those at rest or waiting for a person at once, running
   * turns when they end. Resolves when none is left, or when `signal` aborts. The node claims no further session.
   */
  drain(signal: AbortSignal): Promise<void>
  /** Whether this node hands its sessions over, because it is about to stop. */
  isDraining(): boolean
}

const lookMs = 100

export const nodeSuspended = fault(
  'storage_error',
  'This node has lost the database and runs no session until it is back.',
  { reason: 'unreachable', retryAfterSeconds: 1 },
)

export function createMembership(
  parts: RegistryState,
  registry: Pick<SessionRegistry, 'all' | 'loaded'>,
  handOver: (id: SessionId) => Promise<void>,
): Membership {
  const { deps, stores, loaded } = parts
  return {
    isDraining: () => parts.isDraining,

    suspend() {
      parts.isSuspended = true
      for (const { runner } of loaded.values()) runner.suspend()
      parts.inBackground('ending the commands of this node', (async () => deps.tools.background?.end())())
    },

    async resume() {
      parts.isSuspended = false
      await dropLost(deps, stores, registry)
      // A write of a session may still wait for the database: the others do not wait for it.
      for (const { runner } of loaded.values()) parts.inBackground(`loading ${runner.id} again`, runner.resume())
    },

    async drain(signal) {
      parts.isDraining = true
      while (!signal.aborted && loaded.size > 0) {
        const parked = treesOf(loaded).filter((runner) => isParked(loaded, runner))
        // One that cannot be released must not end the turns of the others: its lease passes on with the term.
        const report = (id: SessionId) => (cause: unknown) => deps.onProblem({ where: `handing ${id} over`, cause })
        await Promise.all(parked.map(({ id }) => handOver(id).catch(report(id))))
        if (parked.length === 0) await abortableDelay(deps.clock, lookMs, { signal, keepsAlive: true })
      }
    },
  }
}

type Loaded = RegistryState['loaded']

/** Returns the sessions at the top of their trees here. A subagent leaves with its parent, which waits for it. */
const treesOf = (loaded: Loaded): readonly SessionRunner[] =>
  [...loaded.values()].flatMap(({ runner }) => {
    const { origin } = runner.folded().state
    const parent = origin?.subagent ? origin.parent : null
    return parent !== null && loaded.has(parent) ? [] : [runner]
  })

/** Whether nothing runs in a tree: each session is at rest, or waits for a person, whose answer any node can take. */
function isParked(loaded: Loaded, { folded, isWriting }: SessionRunner): boolean {
  const { state } = folded()
  const { turn, queue, children } = state
  const isChildParked = ({ session }: OpenChild) => {
    const child = loaded.get(session)?.runner
    // One at rest has a result, or waits for its own subagents: its parent has to be here when it goes on.
    return child !== undefined && child.folded().state.turn.phase === 'acting' && isParked(loaded, child)
  }
  if (isWriting() || !children.every(isChildParked)) return false
  if (turn.phase === 'idle') return queue.length === 0
  return turn.phase === 'acting' && turn.calls.every(({ id, status }) => status === 'asked' || childOf(state, id))
}
