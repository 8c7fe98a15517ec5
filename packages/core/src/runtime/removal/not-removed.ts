import type { NotRemovedReason } from '@holdfast/protocol'
import type { Listed } from '../../ports/catalogue.ts'
import type { NodeDeps } from '../node-deps.ts'
import type { SessionRunner } from '../runner/session-runner.ts'

/** Whether an owner is another process that lives. */
export type IsElsewhere = (owner: string | null) => Promise<boolean>

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

export type RemovalCandidate = Pick<Listed, 'meta' | 'busy' | 'owner'>

/** Why a session must stay unless someone forces it; null when it may go. `runner` is the session if it is awake here. */
export async function notRemovedReason(
  { meta, busy, owner }: RemovalCandidate,
  runner: SessionRunner | null,
  isElsewhere: IsElsewhere,
): Promise<NotRemovedReason | null> {
  if (runner) return reasonHere(runner)
  if (await isElsewhere(owner)) return 'open_elsewhere'
  // What says busy and has no living owner was interrupted; what does not and is in a turn has a question open.
  const isAsking = !busy && (meta.status === 'thinking' || meta.status === 'tool_executing')
  return isAsking ? 'running' : null
}

function reasonHere({ folded, hub, isWriting }: SessionRunner): NotRemovedReason | null {
  if (folded().state.turn.phase !== 'idle' || isWriting()) return 'running'
  return hub.attached > 0 ? 'attached' : null
}
