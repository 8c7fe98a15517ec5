import {
  type Command,
  createCommandId,
  type Event,
  escapeLine,
  isTrustedExactly,
  type Permission,
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
 * Passes on what a person changes while subagents work: the mode, which calls ask, the boundaries and the servers to those directly below,
 * trust, rules and what is taken back of them to the whole tree.
 */
export function passOn(host: SubagentHost, known: KnownChildren, changed: Changed, records: readonly Recorded[]): void {
  const direct = known.below(changed.session).filter((one) => isRunning(one) && one.parent === changed.session)
  const send = (id: SessionId, command: Command) =>
    tell(host, id, host.loaded(id)?.submit({ commandId: createCommandId(), by: null, command }))
  const sendAll = (command: Command) => {
    for (const { id } of direct) send(id, command)
  }
  for (const { event } of records) {
    if (event.type === 'settings.changed' && event.mode !== undefined) sendAll(enter(event.mode))
    else if (event.type === 'settings.changed' && event.approvals !== undefined)
      sendAll({ type: 'setApprovals', approvals: event.approvals })
    else if (event.type === 'settings.changed' && event.serversOff !== undefined)
      for (const { id } of direct) {
        const off = host.loaded(id)?.folded().state.settings.serversOff ?? []
        for (const command of switchServers(off, event.serversOff)) send(id, command)
      }
    else if (event.type === 'boundary.set' && !event.moved)
      sendAll({ type: 'setBoundary', path: event.path, start: event.start, end: event.end })
    else if (event.type === 'boundary.cleared')
      sendAll(event.path === null ? { type: 'clearAllBoundaries' } : { type: 'clearBoundary', path: event.path })
    else if (event.type === 'trust.revoked') {
      for (const id of treeOf(known, changed))
        if (hasTrust(host, id, event.tool)) send(id, { type: 'revokeToolTrust', tool: event.tool ?? 'all' })
    } else passOnTrust(host, known, changed, event)
  }
}

/** Lets other sessions of the tree count what a person trusted, or stored a rule for: their open questions are answered. */
function passOnTrust(host: SubagentHost, known: KnownChildren, changed: Changed, event: Event): void {
  const { session, state } = changed
  const root = rootOf(changed)
  const found = trustIn(state, event)
  if (found === null || found.scope === 'turn') return
  const { scope, trust, rule } = found
  const spread = (id: SessionId, isGranted: boolean) =>
    tell(host, id, host.loaded(id)?.report({ type: 'trust.spread', trust, isGranted, rule }))
  // Trust for the session belongs to the session at the top, which then passes it on.
  if (scope === 'session' && root !== session) spread(root, true)
  else for (const id of treeOf(known, changed)) spread(id, false)
}

type Spread = {
  readonly scope: Trust['scope']
  readonly trust: Pick<Trust, 'tool' | 'argsHash'>
  readonly rule: string
}

/** Returns the trust that an event gives to more than one call; null if it gives none. */
function trustIn(state: SessionState, event: Event): Spread | null {
  if (event.type === 'trust.granted') {
    const { scope, tool, argsHash } = event
    return { scope, trust: { tool, ...(argsHash !== undefined && { argsHash }) }, rule: `trust: ${scope}` }
  }
  // Other approvals beyond one call come with a record of the trust that they grant.
  const isSubagent = state.origin?.subagent != null
  const isSpread =
    event.type === 'call.approved' && ((event.scope === 'session' && isSubagent) || event.rule !== undefined)
  const tool = isSpread ? findCall(state, event.call)?.tool : undefined
  if (!isSpread || tool === undefined || event.scope === 'once') return null
  const { scope, argsHash, rule } = event
  return { scope, trust: { tool, ...(isTrustedExactly(tool) && { argsHash }) }, rule: wordsOf(rule, scope) }
}

const wordsOf = (rule: Permission | undefined, scope: Trust['scope']): string =>
  rule === undefined
    ? `trust: ${scope}`
    : `your rule \`${escapeLine(rule.tool === 'shell' && rule.pattern !== undefined ? rule.pattern : [rule.tool, rule.pattern ?? []].flat().join(' '))}\``

const rootOf = ({ session, state }: Changed): SessionId => state.origin?.subagent?.root ?? session

/** Returns the other sessions of a tree whose work goes on, and the one at its top. */
function treeOf(known: KnownChildren, changed: Changed): readonly SessionId[] {
  const root = rootOf(changed)
  const below = known.below(root).filter(isRunning)
  return [root, ...below.map(({ id }) => id)].filter((id) => id !== changed.session)
}

/** Whether a session has trust of its own in a tool, or in any. */
function hasTrust(host: SubagentHost, id: SessionId, tool: string | null): boolean {
  const trust = host.loaded(id)?.folded().state.trust ?? []
  return trust.some((one) => tool === null || one.tool === tool)
}

function tell(host: SubagentHost, id: SessionId, told: Promise<Result<unknown>> | undefined): void {
  if (told) host.inBackground(`telling ${id} what changed in its tree`, told)
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
    ...(before.settings.approvals === now.settings.approvals
      ? []
      : [{ type: 'setApprovals', approvals: now.settings.approvals ?? 'destructive' } as const]),
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
