import {
  done,
  type EventOf,
  type Fork,
  fault,
  type Handle,
  invariant,
  isOnLine,
  type Recorded,
  type Result,
  refuse,
  type Seq,
  type SessionId,
} from '@holdfast/protocol'
import type { Store } from '../../ports/store/store.ts'
import { cutOff } from '../../session/line.ts'
import type { SessionState } from '../../session/state.ts'
import type { NodeDeps } from '../dependencies.ts'
import { findLastEnd } from '../log/find-turn-end.ts'
import type { Folded } from '../log/load-session.ts'
import type { SessionStores } from './session-stores.ts'
import { createSession } from './start-session.ts'

/** Creates the fork that the record at `seq` names, unless it exists. It inherits no trust, queue or open question. */
export async function forkSession(
  deps: NodeDeps,
  stores: SessionStores,
  id: SessionId,
  { state, row }: Folded,
  seq: Seq,
): Promise<Result<unknown>> {
  const store = stores.storeOf(id)
  const [record] = await store.read(id, { after: seq - 1, upTo: seq, limit: 1 })
  // A fork sent under the id of another command got that command's answer: there is no fork to create.
  if (!record || 'lost' in record || record.event.type !== 'session.forked') return done
  const { fork: session, base, line } = record.event
  if (await store.entry(session)) return done
  const lineage = await lineageOf(store, id, base)
  const parent = lineage.at(-1)?.session
  const length = await findLastEnd(store, id, line, base)
  if (!length || parent === undefined)
    return refuse(fault('turn_not_found', `Session ${id} has no turn that ends at ${base}.`))
  const { seq: _, ...rest } = length
  const hidden = cutOff(state)
  const skills = [...state.skills]
  const inherited: Fork = {
    lineage: [...lineage],
    line,
    ...rest,
    checkpoints: state.checkpoints.filter(({ seq }) => seq <= base && (isOnLine(line, seq) || seq === hidden)),
    pins: state.pins.filter(({ message }) => message <= base && isOnLine(line, message)),
    preview: row.entry.meta.preview,
    ...(skills.length > 0 && { skills }),
  }
  const made = await createSession(deps, stores, {
    session,
    parent,
    base,
    events: (handle) => [{ ...startedEvent(state, row, inherited, handle), parent: id }],
  })
  if (made.ok) await store.release(session, deps.node.id, 1) // the first process that opens it owns it
  return made
}

/** Builds the fork's first event; its line goes on from there. */
function startedEvent(
  { origin, settings }: SessionState,
  { entry }: Folded['row'],
  fork: Fork,
  handle: Handle,
): EventOf<'session.started'> {
  invariant(origin, 'only a session that was started can be forked')
  // A fork of a subagent is a session of its own.
  const { handle: _handle, key: _key, parent: _parent, subagent: _subagent, ...kept } = origin
  const { workdir, tools, readOnly, persist, instructions, providerOptions, hooksEnabled, sessionStartHook, ...rest } =
    kept
  rest satisfies Record<string, never> // a new field of the origin has to say whether a fork inherits it
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
    ...(!hooksEnabled && { hooksEnabled: false }),
    ...(!sessionStartHook && { sessionStartHook: false }),
    fork,
  }
}

/** Returns the sessions whose records the fork reads, oldest first: a fork of a fork reads from both. */
async function lineageOf(store: Pick<Store, 'entry' | 'read'>, id: SessionId, base: Seq): Promise<Fork['lineage']> {
  const known = await store.entry(id)
  const [first] = known ? await store.read(id, { after: known.base, upTo: known.base + 1, limit: 1 }) : []
  const above = first && !('lost' in first) ? forkOf(first) : []
  const shared = above.filter(({ upTo }) => upTo < base)
  const holder = above.find(({ upTo }) => upTo >= base)?.session ?? id
  return [...shared, { session: holder, upTo: base }]
}

const forkOf = ({ event }: Recorded): Fork['lineage'] =>
  event.type === 'session.started' ? (event.fork?.lineage ?? []) : []
