import {
  type EventOf,
  type Fork,
  fault,
  type Handle,
  invariant,
  isOnLine,
  ok,
  type Recorded,
  type Result,
  refuse,
  type Seq,
  type SessionId,
} from '@holdfast/protocol'
import { cutOff } from '../../session/line.ts'
import type { SessionState } from '../../session/state.ts'
import type { NodeDeps } from '../dependencies.ts'
import { findLastEnd } from '../log/find-turn-end.ts'
import type { Folded } from '../log/load-session.ts'
import { createSession } from './start-session.ts'

/**
 * Makes the session that a `session.forked` record of `id` names: a past that is shared by naming it, and nothing copied.
 * It inherits settings, pins and compactions; never trust, queues or questions. Made once, however often it is asked for.
 */
export async function forkSession(
  parts: NodeDeps,
  id: SessionId,
  { state, row }: Folded,
  { fork: session, base, line }: EventOf<'session.forked'>,
): Promise<Result<SessionId>> {
  const { store } = parts
  if (await store.entry(session)) return ok(session)
  const lineage = await lineageOf(parts, id, base)
  const parent = lineage.at(-1)?.session
  const length = await findLastEnd(store, id, line, base)
  if (!length || parent === undefined)
    return refuse(fault('turn_not_found', `Session ${id} has no turn that ends at ${base}.`))
  const { seq: _, ...rest } = length
  const hidden = cutOff(state)
  const inherited: Fork = {
    lineage: [...lineage],
    line,
    ...rest,
    checkpoints: state.checkpoints.filter(({ seq }) => seq <= base && (isOnLine(line, seq) || seq === hidden)),
    pins: state.pins.filter(({ message }) => message <= base && isOnLine(line, message)),
    preview: row.entry.meta.preview,
  }
  const made = await createSession(parts, {
    ...{ session, parent, base },
    events: (handle) => [{ ...startedEvent(state, row, inherited, handle), parent: id }],
  })
  if (made.ok) await store.release(session, parts.node.id, 1) // whoever opens it first has it
  return made
}

/** The fork's line goes on from its own first record. */
function startedEvent(
  { origin, settings }: SessionState,
  { entry }: Folded['row'],
  fork: Fork,
  handle: Handle,
): EventOf<'session.started'> {
  invariant(origin, 'only a session that was started can be forked')
  const { workdir, tools, readOnly, persist, instructions, providerOptions } = origin
  return {
    type: 'session.started',
    handle,
    workdir,
    settings: { ...settings, title: `${entry.meta.title} (fork)`.slice(0, 200).toWellFormed() },
    ...(tools !== null && { tools: [...tools] }),
    ...(readOnly && { readOnly }),
    ...(!persist && { persist: false }),
    ...(instructions !== null && { instructions }),
    ...(providerOptions !== null && { providerOptions }),
    fork,
  }
}

/** Whose records the fork reads, oldest first: a fork of a fork reads from both. */
async function lineageOf({ store }: NodeDeps, id: SessionId, base: Seq): Promise<Fork['lineage']> {
  const known = await store.entry(id)
  const [first] = known ? await store.read(id, { after: known.base, upTo: known.base + 1, limit: 1 }) : []
  const above = first && !('lost' in first) ? forkOf(first) : []
  const shared = above.filter(({ upTo }) => upTo < base)
  const holder = above.find(({ upTo }) => upTo >= base)?.session ?? id
  return [...shared, { session: holder, upTo: base }]
}

const forkOf = ({ event }: Recorded): Fork['lineage'] =>
  event.type === 'session.started' ? (event.fork?.lineage ?? []) : []
