import { isDeepStrictEqual } from 'node:util'
import type { Answer, FrameOf, Result } from '@holdfast/protocol'
import { expectedSummaryWords, expectedWords, sentSummaryWords, sentWords } from './compare-context.ts'
import { duplicateIds, expectedMessages, linePairs, shownMessage, withMessageIds } from './compare-lines.ts'
import { askedCalls } from './family/approvals.ts'
import { anyName } from './family/forks.ts'
import { titleOf } from './family/metadata.ts'
import { asShown } from './family/queues.ts'
import { argumentOf } from './family/trust.ts'
import { activeCheckpoint } from './model-context.ts'
import type { ReadLines } from './real/read-lines.ts'
import type { RealSession } from './real/real-session.ts'
import { answerTo, isWanted, purposeOf } from './real/scripted-agents.ts'
import type { ExpectedAnswer, State } from './state.ts'
import { at, messagesOn } from './tree.ts'

export type Observed = {
  readonly now: FrameOf<'snapshot'>
  readonly workspaceTrust: Awaited<ReturnType<RealSession['workspaceTrust']>>
  /** All that can be read of all lines; null while they are known to be the same. */
  readonly lines: ReadLines | null
}

/** Returns the first difference between the real session and the model, or null. */
export function findDifference(
  state: State,
  { now, workspaceTrust, lines }: Observed,
  real: RealSession,
): string | null {
  const { view, meta } = now
  const count = messagesOn(state.nodes, state).length
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
    'what steers': [queue('steering'), state.steering.map(asShown)],
    'what follows': [queue('follow_up'), state.followUps.map(asShown)],
    'who waits': [view.pendingApprovals.map(({ tool, preview }) => [tool, preview]), askedCalls(state).map(previewOf)],
    'which questions': [view.pendingApprovals.map(({ id }) => id), askedCalls(state).map(({ approval }) => approval)],
    'open calls': [view.activeToolCalls.map(({ tool }) => tool), state.turn?.calls.map(({ tool }) => tool) ?? []],
    trust: [trusted(view.trust), state.trust.map(asText).sort()],
    'trust of the workspace': [trusted(workspaceTrust), state.workspace.map(asText).sort()],
    'the newest messages': [now.messages.map(shownMessage), expectedMessages(state, state, now.messages.length)],
    counts: [
      [meta.messageCount, meta.turnCount, meta.branchCount],
      [count, state.turns, state.branches.length],
    ],
    'how it is kept': [
      [meta.title, meta.pinned, meta.workspace],
      [titleOf(state), state.isPinned, state.workdir],
    ],
    'names borne twice': [duplicateIds(state), []],
    'its branch': [view.branch, state.branch],
    'kept branches': [view.branches.map(({ name }) => name), state.branches.map(({ name }) => name)],
    pins: [view.pins, state.pins.map((key) => at(state, key).id)],
    compaction: [view.checkpoint, nameOf(state, activeCheckpoint(state)?.key)],
    settings: [
      [view.model, view.thinkingLevel, view.fallback],
      [state.model, state.thinkingLevel, state.turn?.fallback ?? null],
    ],
    ...(lines && linePairs(state, lines)),
    'who answers': [answering ? 1 : 0, state.turn?.phase === 'thinking' && !state.turn.isPaused ? 1 : 0],
    'what the model is told': [
      answering && sentWords(answering.request),
      answering && state.turn ? expectedWords(state, state.turn.told) : undefined,
    ],
    'who sums up': [summing.length, sideWork.length],
    'what is summed up': [
      inOrder.map((one) => one && sentSummaryWords(one.request)),
      sideWork.map(({ of }) => expectedSummaryWords(state, of)),
    ],
    'what runs': [real.scriptedAgents.working.filter(isWanted).map(useOf).sort(), running(state).map(useOf).sort()],
    'in memory': [real.isAwake(), state.isAwake],
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

/** Messages and questions are called what the session calls them: whoever speaks of them reads it off the screen. */
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

/** How many tokens it came to is a guess, and what a fork is called is the session's to say. */
const guesses = ['tokens', 'tokensBefore', 'tokensAfter']

function comparable({ entries, session, ...result }: Answer['result'], must: Answer['result']): unknown {
  const rest = Object.entries(result).filter(([name]) => !guesses.includes(name))
  return {
    ...Object.fromEntries(rest),
    ...(session !== undefined && { session: must['session'] === anyName ? typeof session : session }),
    // What is taken back of both queues comes in any order, but in its order within each.
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
