import {
  type Command,
  createCommandId,
  isTrustedExactly,
  type Recorded,
  type Result,
  type SessionId,
  type Trust,
} from '@holdfast/protocol'
import { findCall, type SessionState } from '../../session/state.ts'
import { isRunning } from './child-view.ts'
import type { SubagentHost } from './host.ts'
import type { KnownChildren } from './known-children.ts'

type Changed = { readonly session: SessionId; readonly state: SessionState }

/**
 * Passes on what a person changes while subagents work: the mode, the boundaries and the servers to those directly below,
 * trust for the session to the whole tree.
 */
export function passOn(
  host: SubagentHost,
  known: KnownChildren,
  { session, state }: Changed,
  records: readonly Recorded[],
): void {
  const below = known.below(session).filter(isRunning)
  const direct = below.filter(({ parent }) => parent === session)
  const tell = (ids: readonly SessionId[], work: (id: SessionId) => Promise<Result<unknown>> | undefined) => {
    for (const id of ids) {
      const told = work(id)
      if (told) host.inBackground(`telling ${id} what changed above it`, told)
    }
  }
  const command = (sent: Command) =>
    tell(
      direct.map(({ id }) => id),
      (id) => host.loaded(id)?.submit({ commandId: createCommandId(), by: null, command: sent }),
    )
  const spread = (ids: readonly SessionId[], trust: Pick<Trust, 'tool' | 'argsHash'>, isGranted: boolean) =>
    tell(ids, (id) => host.loaded(id)?.report({ type: 'trust.spread', trust, isGranted }))

  for (const { event } of records) {
    if (event.type === 'settings.changed' && event.mode !== undefined) command(enter(event.mode))
    else if (event.type === 'settings.changed' && event.serversOff !== undefined)
      for (const { id } of direct) {
        const off = host.loaded(id)?.folded().state.settings.serversOff ?? []
        for (const sent of switchServers(off, event.serversOff))
          tell([id], () => host.loaded(id)?.submit({ commandId: createCommandId(), by: null, command: sent }))
      }
    else if (event.type === 'boundary.set' && !event.moved)
      command({ type: 'setBoundary', path: event.path, start: event.start, end: event.end })
    else if (event.type === 'boundary.cleared')
      command(event.path === null ? { type: 'clearAllBoundaries' } : { type: 'clearBoundary', path: event.path })
    else if (event.type === 'trust.granted' && event.scope === 'session' && !state.origin?.subagent)
      spread(
        below.map(({ id }) => id),
        trustOf(event),
        false,
      )
    else if (event.type === 'call.approved' && event.scope === 'session' && state.origin?.subagent) {
      const tool = findCall(state, event.call)?.tool
      if (tool === undefined) continue
      const trust = { tool, ...(isTrustedExactly(tool) && { argsHash: event.argsHash }) }
      spread([state.origin.subagent.root], trust, true)
    }
  }
}

const enter = (mode: SessionState['settings']['mode']): Command => ({
  type: mode === 'plan' ? 'enterPlan' : 'enterExec',
})

/** Returns the commands that turn servers off and on. */
const switchServers = (before: readonly string[], off: readonly string[]): readonly Command[] => [
  ...off.filter((name) => !before.includes(name)).map((server) => ({ type: 'setServer', server, on: false }) as const),
  ...before.filter((name) => !off.includes(name)).map((server) => ({ type: 'setServer', server, on: true }) as const),
]

/** Tells a subagent what has changed above it while it was being started: it did not hear of that. */
export async function catchUp(
  host: SubagentHost,
  child: SessionId,
  before: SessionState,
  now: SessionState,
): Promise<void> {
  const isKept = ({ path }: Bounded) => now.boundaries.some((one) => one.path === path)
  const isNew = ({ path, start, end }: Bounded) =>
    !before.boundaries.some((one) => one.path === path && one.start === start && one.end === end)
  const commands: readonly Command[] = [
    ...(before.settings.mode === now.settings.mode ? [] : [enter(now.settings.mode)]),
    ...before.boundaries.flatMap((one) => (isKept(one) ? [] : [{ type: 'clearBoundary', path: one.path } as const])),
    ...now.boundaries.filter(isNew).map(({ path, start, end }) => ({ type: 'setBoundary', path, start, end }) as const),
    ...switchServers(before.settings.serversOff ?? [], now.settings.serversOff ?? []),
  ]
  for (const command of commands) {
    const told = await host.loaded(child)?.submit({ commandId: createCommandId(), by: null, command })
    if (told && !told.ok) host.deps.onProblem({ where: `telling ${child} what changed above it`, cause: told.fault })
  }
}

type Bounded = SessionState['boundaries'][number]

const trustOf = ({ tool, argsHash }: Pick<Trust, 'tool' | 'argsHash'>) => ({
  tool,
  ...(argsHash !== undefined && { argsHash }),
})
