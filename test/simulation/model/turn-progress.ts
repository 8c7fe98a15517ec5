import type { CallStatus } from '@holdfast/protocol'
import { answering, currentContext, emptyContext } from './model-context.ts'
import { type OpenCall, type State, spareModel, stepsMax, type ToolUse, type Turn } from './state.ts'
import { type Ending, grow } from './tree.ts'

/** Advances turns, rounds and safe points, and ends them when they are interrupted. */

export const withTurn = (state: State, change: Partial<Turn>): State =>
  state.turn ? { ...state, turn: { ...state.turn, ...change } } : state

export const addUserMessage = (state: State, text: string): State =>
  grow(state, { who: 'user', text }, { turn: state.turn?.number ?? 0, round: null })

/** Starts a turn; a continued turn keeps its number. */
export function beginTurn(state: State, number = state.turns): State {
  const turn: Turn = {
    number,
    begun: 0,
    phase: 'preparing',
    step: state.step,
    steps: 0,
    isAnswered: false,
    streamed: '',
    saved: '',
    asked: '',
    tries: 0,
    isPaused: false,
    fallback: null,
    tried: [],
    context: emptyContext,
    calls: [],
  }
  return { ...state, turn, turns: number + 1 }
}

export function endTurn(state: State, reason: Ending): State {
  const turn = state.turn?.number ?? 0
  const ended = grow(state, { who: 'end', reason }, { turn, round: null })
  return { ...ended, turn: null, last: { turn, reason }, trust: state.trust.filter(({ scope }) => scope !== 'turn') }
}

/** Ends the turn and starts the next queued prompt. */
function endAnswered(state: State): State {
  const ended = endTurn(state, 'done')
  const [next, ...followUps] = state.followUps
  return next ? addUserMessage(beginTurn({ ...ended, followUps }), next.text) : ended
}

/** Adds all steering messages before the next model call. */
function safePoint(state: State, turn: Turn): State {
  if (turn.isAnswered && state.steering.length === 0) return endAnswered(state)
  if (turn.steps >= stepsMax) return endTurn(noteLimit(state, turn), 'limit')
  const steered = state.steering.reduce((now, { text }) => addUserMessage(now, text), state)
  const step = state.step + 1
  return withTurn(
    { ...steered, steering: [], step },
    {
      phase: 'thinking',
      step,
      steps: turn.steps + 1,
      streamed: '',
      saved: '',
      asked: answering(state),
      tries: 1,
      context: currentContext(steered),
      begun: steered.tip ?? 0,
    },
  )
}

const triesMax = 4
const failure = 'The model cannot be reached.'
const notice = (state: State, code: string, text: string): State =>
  grow(state, { who: 'note', kind: 'notice', code, text }, { turn: state.turn?.number ?? 0, round: null })

/** Handles an overloaded model: it is retried, then replaced by the fallback. An answer that has started is not continued. */
export function failModelCall(state: State, turn: Turn, isOverSoon: boolean): State {
  if (turn.streamed !== '') return cutShort(state, 'failed', turn.streamed)
  if (!isOverSoon || turn.tries === triesMax) return giveUp(state, turn)
  const tries = turn.tries + 1
  const step = state.step + 1
  const noticed = notice(state, 'retry', `${failure} Trying again in 6 s: try ${tries} of ${triesMax}.`)
  return withTurn({ ...noticed, step }, { tries, step, isPaused: true })
}

function giveUp(state: State, turn: Turn): State {
  const tried = [...turn.tried, turn.asked]
  const next = tried.includes(state.model) ? [spareModel].find((one) => !tried.includes(one)) : state.model
  if (next === undefined) return cutShort(state, 'failed', '')
  const text = `${turn.asked} does not answer: ${failure} ${next} answers instead for the rest of this turn.`
  const isOwn = next === state.model
  return withTurn(notice(endStep(state), 'fallback', text), {
    phase: 'preparing',
    isAnswered: false,
    steps: turn.steps - 1,
    fallback: isOwn ? null : next,
    tried: isOwn ? [] : tried,
  })
}

/** Applies a person's model choice at once. */
export const chooseModel = (state: State, model: string): State =>
  withTurn({ ...state, model }, { fallback: null, tried: [] })

const noteLimit = (state: State, { number, steps }: Turn): State => {
  const text = `The turn has made ${steps} model calls, which is its limit. Continue to go on.`
  return grow(state, { who: 'note', kind: 'notice', code: 'step_limit', text }, { turn: number, round: null })
}

/** Ends an answer: its text stays and its calls are open. Without calls the turn ends, unless there is steering. */
export function takeAnswer(state: State, text: string, uses: readonly ToolUse[]): State {
  const answered = addAnswer(state, text, false)
  if (uses.length === 0) {
    const done = endStep(answered)
    return state.steering.length > 0 ? withTurn(done, { phase: 'preparing', isAnswered: true }) : endAnswered(done)
  }
  const first = answered.nodes.length
  const calls = uses.map(
    (use, index): OpenCall => ({ ...use, place: first + index, status: 'requested', approval: null }),
  )
  const called = uses.reduce(
    (now, { tool, n }) => grow(now, { who: 'call', tool, args: argsOf(n), status: 'waiting' }, placeIn(state)),
    answered,
  )
  return withTurn(endStep(called), { phase: 'acting', calls })
}

const argsOf = (n: number) => JSON.stringify({ n })
const placeIn = ({ turn }: State) => ({
  turn: turn?.number ?? 0,
  round: turn?.step ?? null,
  begins: turn?.begun ?? 0,
})

export const addAnswer = (state: State, text: string, isCut: boolean): State =>
  text === '' ? state : grow(state, { who: 'agent', text, isCut }, placeIn(state))

/** Ends a step and records its cost. */
const endStep = (state: State): State => grow(state, { who: 'usage' }, placeIn(state))

/** Settles a call. The last one closes the round. */
export function settleCall(state: State, place: number, status: CallStatus, by: string | null = null): State {
  const call = state.turn?.calls.find((one) => one.place === place)
  if (!state.turn || !call) return state
  const calls = state.turn.calls.filter((one) => one !== call)
  const decided =
    call.approval === null || call.status !== 'asked'
      ? state.decided
      : [...state.decided, { approval: call.approval, by }]
  const settled = withStatus({ ...state, decided }, place, status)
  return withTurn(settled, calls.length > 0 ? { calls } : { calls, phase: 'preparing', isAnswered: false })
}

export function progress(state: State, place: number, status: OpenCall['status'], by: string | null = null): State {
  const call = state.turn?.calls.find((one) => one.place === place)
  if (!state.turn || !call) return state
  const isAnswer = call.status === 'asked' && call.approval !== null
  const decided = isAnswer ? [...state.decided, { approval: call.approval, by }] : state.decided
  const calls = state.turn.calls.map((one) => (one === call ? { ...call, status } : one))
  const moved = withTurn({ ...state, decided }, { calls })
  return status === 'running' ? withStatus(moved, place, 'running') : moved
}

const withStatus = (state: State, place: number, status: CallStatus): State => ({
  ...state,
  nodes: state.nodes.map((node, key) =>
    key === place && node.said.who === 'call' ? { ...node, said: { ...node.said, status } } : node,
  ),
})

/** Returns whether a call is trusted. Workspace trust may have been revoked by another session. */
export const isTrusted = ({ trust, workspace }: Pick<State, 'trust' | 'workspace'>, { tool, n }: ToolUse): boolean =>
  [...trust.filter(({ scope }) => scope !== 'workspace'), ...workspace].some(
    (one) => one.tool === tool && (one.n === null || one.n === n),
  )

const isHarmless = ({ tool }: ToolUse): boolean => tool === 'look'

/** Denies a call in plan mode and adds a note. */
function denyInPlan(state: State, { place, tool }: OpenCall): State {
  const text = `${tool} is not available in plan mode; describe what you would do instead`
  const note = { who: 'note', kind: 'notice', code: 'plan_mode', text } as const
  return grow(settleCall(state, place, 'denied'), note, { turn: state.turn?.number ?? 0, round: null })
}

/** Returns the next state without any input; null if the session is idle or waits for input. */
export function nextState(state: State): State | null {
  const { turn, mode } = state
  if (turn?.phase === 'preparing') return safePoint(state, turn)
  const requested = turn?.calls.find(({ status }) => status === 'requested')
  if (requested) {
    const { tool, place } = requested
    if (tool === 'nowhere') return settleCall(state, place, 'error')
    if (mode === 'plan' && !isHarmless(requested)) return denyInPlan(state, requested)
    return progress(state, place, isHarmless(requested) || isTrusted(state, requested) ? 'approved' : 'asked')
  }
  const approved = turn?.calls.find(({ status }) => status === 'approved')
  if (!approved) return null
  const isForbidden = mode === 'plan' && !isHarmless(approved)
  return isForbidden ? denyInPlan(state, approved) : progress(state, approved.place, 'running')
}

/** Returns all states until nothing more happens without input, including the first and the last. */
export function statesUntilRest(state: State): readonly State[] {
  const states = [state]
  for (let after = nextState(state); after; after = nextState(after)) states.push(after)
  return states
}

export const atRest = (state: State): State => statesUntilRest(state).at(-1) ?? state

/** Ends the turn early: its text stays, and open calls are interrupted. */
export function cutShort(state: State, last: 'aborted' | 'failed' | 'interrupted', kept: string): State {
  if (!state.turn) return state
  const answered = state.turn.phase === 'thinking' ? endStep(addAnswer(state, kept, true)) : state
  return endTurn(interrupt(answered, state.turn.calls), last)
}

const interrupt = (state: State, calls: readonly OpenCall[]): State =>
  calls.reduce((now, { place }) => settleCall(now, place, 'interrupted'), state)

/** Applies a crash: clients are detached, no work starts by itself, and open approvals stay open. */
export function afterCrash(state: State, kept: string): State {
  const alone = { ...state, attachments: [], isLoaded: false, sideWork: [] }
  const calls = state.turn?.calls ?? []
  if (!calls.some(({ status }) => status === 'asked')) return cutShort(alone, 'interrupted', kept)
  return interrupt(
    alone,
    calls.filter(({ status }) => status !== 'asked'),
  )
}
