import { type ChildOutcome, createCommandId, type Fault, type FaultCode, type SessionId } from '@holdfast/protocol'
import type { ChildEnd, FoundChild } from '../../session/input.ts'
import type { SessionState } from '../../session/state.ts'
import { abortableDelay } from '../abortable-delay.ts'
import { loadSession } from '../log/load-session.ts'
import { isAsking, outcomeOf, readEnd, unknownEnd } from './child-end.ts'
import type { SubagentHost } from './host.ts'
import type { KnownChildren } from './known-children.ts'

type Followed = {
  readonly id: SessionId
  readonly parent: SessionId
  readonly isLeaving: (id: SessionId) => boolean
}

/** The subagent is at another node, or has to be: its work may go on there. */
const elsewhereCodes: readonly FaultCode[] = ['session_locked', 'workdir_elsewhere']

/** How often a subagent at another node is looked at. */
const lookMs = 500

/**
 * Waits until the work of a subagent has ended. Loads it if no process runs it; if another one does, reads there in the log how
 * it ends. Null when `signal` aborts.
 */
export async function waitForEnd(
  host: SubagentHost,
  known: KnownChildren,
  { id, parent, isLeaving }: Followed,
  signal: AbortSignal,
): Promise<ChildEnd | null> {
  while (!signal.aborted) {
    const changed = new AbortController()
    const next = known.changed(id, AbortSignal.any([signal, changed.signal]))
    try {
      // A session that leaves this process with its parent tells nothing: the next process finds out.
      const runner = isLeaving(id) ? null : await host.load(id)
      if (runner && !runner.ok) {
        if (isLeaving(id)) return null
        const end = await whenRefused(host, parent, id, runner.fault)
        if (end) return end
        await Promise.race([abortableDelay(host.deps.clock, lookMs, { signal, keepsAlive: false }), next])
        continue
      }
      const state = runner?.value.folded().state
      if (state && !isChildOf(state, parent)) return unknownEnd('failed', notItsChild)
      const status = state && outcomeOf(state)
      if (state && status && !isLeaving(id)) return endOf(host, id, state, status)
      await next
    } finally {
      changed.abort()
    }
  }
  return null
}

/** Returns the end of a subagent that cannot be loaded; null if it can be later, or another node runs it. */
async function whenRefused(
  host: SubagentHost,
  parent: SessionId,
  id: SessionId,
  { code, message }: Fault,
): Promise<ChildEnd | null> {
  if (elsewhereCodes.includes(code)) return findEnd(host, parent, id).catch(() => null) // the store is away: look again
  return code === 'storage_error' ? null : unknownEnd('failed', cannotOpen(message))
}

const cannotOpen = (why: string): string => `The subagent cannot be opened: ${why}`

const endOf = (host: SubagentHost, id: SessionId, state: SessionState, status: ChildOutcome): Promise<ChildEnd> => {
  const { store: log, blobs } = host.depsOf(id)
  return readEnd({ log, blobs }, id, state, status)
}

/** Aborts the turn of a subagent, and with it those that it waits for. */
export async function abortChild(host: SubagentHost, id: SessionId): Promise<void> {
  const runner = host.loaded(id)
  if (!runner) return
  const aborted = await runner.submit({ commandId: createCommandId(), by: null, command: { type: 'abort' } })
  if (!aborted.ok && aborted.fault.code !== 'session_stopped')
    host.deps.onProblem({ where: `aborting ${id}`, cause: aborted.fault })
}

/** Finds out what became of the subagents that a session waits for, while none of them runs. */
export async function lookAtChildren(
  host: SubagentHost,
  parent: SessionId,
  state: SessionState,
): Promise<readonly FoundChild[]> {
  return Promise.all(
    state.children.map(
      async ({ session }): Promise<FoundChild> => ({ session, end: await findEnd(host, parent, session) }),
    ),
  )
}

/** A log may have been imported, and name any session: only one that names its parent too is its subagent. */
const isChildOf = ({ origin }: SessionState, parent: SessionId): boolean =>
  origin?.subagent != null && origin.parent === parent

const notItsChild = 'The session that was to do this work is not a subagent of this one.'

/** Returns the end of a subagent's work; null if it waits for an approval, or goes on at another node. */
async function findEnd(host: SubagentHost, parent: SessionId, id: SessionId): Promise<ChildEnd | null> {
  const stored = await readState(host, id)
  if (typeof stored === 'string') return unknownEnd('interrupted', stored)
  if (!isChildOf(stored, parent)) return unknownEnd('interrupted', notItsChild)
  const status = outcomeOf(stored)
  if (status) return endOf(host, id, stored, status)
  if ((await isWaiting(host, id, stored)) || (await host.isElsewhere(id))) return null
  return stored.turns === 0 ? unknownEnd('interrupted', neverBegan) : endOf(host, id, stored, 'interrupted')
}

const neverBegan = 'The subagent was interrupted before it began.'

/** Returns the state of a session, of a running one too; or why it cannot be read. */
async function readState(host: SubagentHost, id: SessionId): Promise<SessionState | string> {
  const runner = host.loaded(id)
  if (runner) return runner.folded().state
  const loaded = await loadSession(host.storeOf(id), id)
  if (loaded.ok) return loaded.value.state
  return loaded.fault.code === 'session_not_found' ? neverBegan : cannotOpen(loaded.fault.message)
}

async function isWaiting(host: SubagentHost, id: SessionId, state: SessionState): Promise<boolean> {
  const asking = new Set<SessionId>()
  for (const { session } of state.children) {
    const below = await readState(host, session)
    if (typeof below !== 'string' && isChildOf(below, id) && (await isWaiting(host, session, below)))
      asking.add(session)
  }
  return isAsking(state, (child) => asking.has(child))
}
