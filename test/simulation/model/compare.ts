import { isDeepStrictEqual } from 'node:util'
import type { Answer, FrameOf, Message, Result } from '@holdfast/protocol'
import { asked } from './family/approvals.ts'
import { asShown } from './family/queues.ts'
import { argumentOf } from './family/trust.ts'
import { isWanted } from './real/puppets.ts'
import type { Real } from './real/real.ts'
import type { Said, Says, State } from './state.ts'

export type Seen = {
  readonly now: FrameOf<'snapshot'>
  readonly workspaceTrust: Awaited<ReturnType<Real['workspaceTrust']>>
}

/** Where the real session parts from what it must be; null when it does not. */
export function partingOf(state: State, { now, workspaceTrust }: Seen, real: Real): string | null {
  const { view } = now
  const queue = (which: string) => view.queue.filter((entry) => entry.queue === which)
  const trusted = (list: typeof view.trust | typeof workspaceTrust) =>
    list
      .map(({ tool, scope, argsHash }) => ({ tool, scope, n: argumentOf(tool, argsHash) }))
      .map(asText)
      .sort()
  const shown = now.messages.flatMap(saidOf) // the newest page
  const pairs: Record<string, readonly [unknown, unknown]> = {
    mode: [view.mode, state.mode],
    activity: [view.activity, activityOf(state)],
    'last turn': [view.lastTurn?.reason ?? null, state.turn ? null : state.last],
    'what steers': [queue('steering'), state.steering.map(asShown)],
    'what follows': [queue('follow_up'), state.followUps.map(asShown)],
    'who waits': [view.pendingApprovals.map(({ tool, preview }) => [tool, preview]), asked(state).map(previewOf)],
    'which questions': [view.pendingApprovals.map(({ id }) => id), asked(state).map(({ approval }) => approval)],
    'open calls': [view.activeToolCalls.map(({ tool }) => tool), state.turn?.calls.map(({ tool }) => tool) ?? []],
    trust: [trusted(view.trust), state.trust.map(asText).sort()],
    'trust of the workspace': [
      trusted(workspaceTrust),
      state.trust
        .filter(({ scope }) => scope === 'workspace')
        .map(asText)
        .sort(),
    ],
    transcript: [shown, state.transcript.slice(-shown.length)],
    'who answers': [real.puppets.answering.filter(isWanted).length, state.turn?.phase === 'thinking' ? 1 : 0],
    'what runs': [real.puppets.working.filter(isWanted).map(useOf).sort(), running(state).map(useOf).sort()],
    'in memory': [real.isAwake(), state.isAwake],
    'broken promises': [real.problems, []],
    'wrong screens': [real.attachments.flatMap((one) => one.problem(now, state.seats) ?? []), []],
  }
  const wrong = Object.entries(pairs).filter(([, [is, must]]) => !isDeepStrictEqual(is, must))
  if (wrong.length === 0) return null
  return wrong
    .map(([what, [is, must]]) => `${what}: is ${JSON.stringify(is)}\n    must be ${JSON.stringify(must)}`)
    .join('\n  ')
}

/** A question is called what the session calls it: whoever answers reads it off the screen. */
export function named(state: State, { now }: Seen): State {
  if (!state.turn) return state
  const calls = state.turn.calls.map((call) => {
    if (call.status !== 'asked' || call.approval !== null) return call
    const shown = now.view.pendingApprovals.find(({ tool, preview }) =>
      isDeepStrictEqual([tool, preview], previewOf(call)),
    )
    return shown ? { ...call, approval: shown.id } : call
  })
  return { ...state, turn: { ...state.turn, calls } }
}

/** Whether a command was answered as it must be. */
export function isAnswer(got: Result<Answer>, says: Says): boolean {
  if (!says.ok)
    return !got.ok && got.fault.code === says.code && (says.by === undefined || got.fault.details?.['by'] === says.by)
  if (!got.ok || (says.first && says.first.seq !== got.value.seq)) return false
  return isDeepStrictEqual(byQueue(got.value.result), byQueue(says.result))
}

/** What is taken back of both queues comes in any order, but in its order within each. */
function byQueue(result: Answer['result']): unknown {
  const { entries } = result
  if (!Array.isArray(entries)) return result
  return Object.groupBy(entries, ({ queue }: { readonly queue: string }) => queue)
}

const asText = (value: unknown) => JSON.stringify(value)
const useOf = ({ tool, n }: { readonly tool: string; readonly n: number }) => `${tool} ${n}`
const running = ({ turn }: State) => turn?.calls.filter(({ status }) => status === 'running') ?? []
const previewOf = ({ tool, n }: { readonly tool: string; readonly n: number }) => [
  tool,
  { type: 'arguments', args: { n } },
]

function activityOf({ turn, last }: State): string {
  if (!turn) return last === 'failed' ? 'error' : 'idle'
  return turn.phase === 'acting' ? 'tool_executing' : 'thinking'
}

function saidOf(message: Message): readonly Said[] {
  if (message.kind === 'user') return [{ who: 'user', text: message.text }]
  if (message.kind === 'tool_call') return [{ who: 'call', tool: message.call.tool, status: message.call.status }]
  if (message.kind !== 'assistant') return []
  return [{ who: 'agent', text: message.text, isCut: message.interrupted ?? false, isPinned: message.pinned }]
}
