import { isDeepStrictEqual } from 'node:util'
import type { Answer, FrameOf, Result } from '@holdfast/protocol'
import { expectedSummaryWords, expectedWords, sentSummaryWords, sentWords } from './compare-context.ts'
import { duplicateIds, expectedMessages, linePairs, shownMessage, withMessageIds } from './compare-lines.ts'
import { askedCalls } from './family/approvals.ts'
import { anyName } from './family/forks.ts'
import { titleOf } from './family/metadata.ts'
import { asShown } from './family/queues.ts'
import { argumentOf } from './family/trust.ts'
import { activeCheckpoint, isInContext } from './model-context.ts'
import type { ReadLines } from './real/read-lines.ts'
import type { RealSession } from './real/real-session.ts'
import { answerTo, isWanted, purposeOf } from './real/scripted-agents.ts'
import type { ExpectedAnswer, State } from './state.ts'
import { at, messagesOn } from './tree.ts'

export type Observed = {
  readonly now: FrameOf<'snapshot'>
  readonly workspaceTrust: Awaited<ReturnType<RealSession['workspaceTrust']>>
  /** All lines; null if they are known to be unchanged. */
  readonly lines: ReadLines | null
}

/** Returns the first difference between the real session and the model, or null. */
export function findDifference(
  state: State,
  { now, workspaceTrust, lines }: Observed,
  real: RealSession,
): string | null {
  const { view, meta } = now
  const count = messagesOn(state.nodes, state).filter((key) => isInContext(state, key)).length
  const { sideWork } = state
  const summing = real.scriptedAgents.answering.filter((one) => isWanted(one) && purposeOf(one) !== null)
  const inOrder = sideWork.map(({ kind }) => summing.find((one) => purposeOf(one) === kind))
  const answering = answerTo(real.scriptedAgents)
  const queue = (which: string) => view.queue.filter((entry) => entry.queue === which)
  const trusted = (list: typeof view.trust | typeof workspaceTrust) =>
    list
      .map(({ tool, scope, argsHash }) => ({ tool, scope, n: argumentOf(tool, argsHash) }))
      .map(asText)
      .sort()
  const pairs: Record<string, readonly [unknown, unknown]> = {
    mode: [view.mode, state.mode],
    activity: [view.activity, activityOf(state)],
    'last turn': [view.lastTurn?.reason ?? null, state.turn ? null : (state.last?.reason ?? null)],
    'steering queue': [queue('steering'), state.steering.map(asShown)],
    'follow-up queue': [queue('follow_up'), state.followUps.map(asShown)],
    'who waits': [view.pendingApprovals.map(({ tool, preview }) => [tool, preview]), askedCalls(state).map(previewOf)],
    'which questions': [view.pendingApprovals.map(({ id }) => id), askedCalls(state).map(({ approval }) => approval)],
    'open calls': [view.activeToolCalls.map(({ tool }) => tool), state.turn?.calls.map(({ tool }) => tool) ?? []],
    boundaries: [view.boundaries, state.boundaries],
    'servers off': [view.serversOff, state.serversOff],
    skills: [view.skills.map(({ name }) => name), state.skills],
    trust: [trusted(view.trust), state.trust.map(asText).sort()],
    'trust of the workspace': [trusted(workspaceTrust), state.workspace.map(asText).sort()],
    'the newest messages': [now.messages.map(shownMessage), expectedMessages(state, state, now.messages.length)],
    counts: [
      [meta.messageCount, meta.turnCount, meta.branchCount],
      [count, state.turns, state.branches.length],
    ],
    metadata: [
      [meta.title, meta.pinned, meta.workspace],
      [titleOf(state), state.isPinned, state.workdir],
    ],
    'names borne twice': [duplicateIds(state), []],
    'its branch': [view.branch, state.branch],
    branches: [view.branches.map(({ name }) => name), state.branches.map(({ name }) => name)],
    pins: [view.pins, state.pins.map((key) => at(state, key).id)],
    compaction: [view.checkpoint, nameOf(state, activeCheckpoint(state)?.key)],
    settings: [
      [view.model, view.thinkingLevel, view.fallback],
      [state.model, state.thinkingLevel, state.turn?.fallback ?? null],
    ],
    ...(lines && linePairs(state, lines)),
    'who answers': [answering ? 1 : 0, state.turn?.phase === 'thinking' && !state.turn.isPaused ? 1 : 0],
    'model request': [
      answering && sentWords(answering.request),
      answering && state.turn ? expectedWords(state, state.turn.context) : undefined,
    ],
    'who sums up': [summing.length, sideWork.length],
    'summary request': [
      inOrder.map((one) => one && sentSummaryWords(one.request)),
      sideWork.map(({ of }) => expectedSummaryWords(state, of)),
    ],
    'running calls': [real.scriptedAgents.working.filter(isWanted).map(useOf).sort(), running(state).map(useOf).sort()],
    'in memory': [real.isLoaded(), state.isLoaded],
    'broken promises': [real.problems, []],
    'wrong screens': [real.attachments.flatMap((one) => one.problem(now, state.attachments) ?? []), []],
  }
  const wrong = Object.entries(pairs).filter(([, [is, must]]) => !isDeepStrictEqual(is, must))
  if (wrong.length === 0) return null
  return wrong
    .map(([what, [is, must]]) => `${what}: is ${JSON.stringify(is)}\n    must be ${JSON.stringify(must)}`)
    .join('\n  ')
}

const nameOf = (state: State, key: number | undefined) => (key === undefined ? null : at(state, key).id)

/** Takes over the ids of messages and approvals from the session, as a client does. */
export function withIds(unnamed: State, seen: Observed): State {
  const { now, lines } = seen
  const read = unnamed.branches.reduce(
    (state, branch, index) => withMessageIds(state, branch, lines?.kept[index]?.backwards ?? []),
    withMessageIds(unnamed, unnamed, now.messages),
  )
  return withQuestions(read, seen)
}

function withQuestions(state: State, { now }: Observed): State {
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

/** Returns whether a command was answered as predicted. */
export function isAnswer(got: Result<Answer>, says: ExpectedAnswer): boolean {
  if (!says.ok)
    return !got.ok && got.fault.code === says.code && (says.by === undefined || got.fault.details?.['by'] === says.by)
  if (!got.ok || (says.first && says.first.seq !== got.value.seq)) return false
  return isDeepStrictEqual(comparable(got.value.result, says.result), comparable(says.result, says.result))
}

/** Removes values that the model cannot predict: token counts and ids of forks. */
const guesses = ['tokens', 'tokensBefore', 'tokensAfter']

function comparable({ entries, session, ...result }: Answer['result'], must: Answer['result']): unknown {
  const rest = Object.entries(result).filter(([name]) => !guesses.includes(name))
  return {
    ...Object.fromEntries(rest),
    ...(session !== undefined && { session: must['session'] === anyName ? typeof session : session }),
    // Prompts recalled from both queues come in any order, but in order within each queue.
    ...(Array.isArray(entries) && {
      entries: Object.groupBy(entries, ({ queue }: { readonly queue: string }) => queue),
    }),
  }
}

const asText = (value: unknown) => JSON.stringify(value)
const useOf = ({ tool, n }: { readonly tool: string; readonly n: number }) => `${tool} ${n}`
const running = ({ turn }: State) => turn?.calls.filter(({ status }) => status === 'running') ?? []
const previewOf = ({ tool, n }: { readonly tool: string; readonly n: number }) => [
  tool,
  { type: 'arguments', args: { n } },
]

function activityOf({ turn, last }: State): string {
  if (!turn) return last?.reason === 'failed' ? 'error' : 'idle'
  return turn.phase === 'acting' ? 'tool_executing' : 'thinking'
}
