import { isDeepStrictEqual } from 'node:util'
import { type Answer, invariant, type Result } from '@holdfast/protocol'
import type { AsyncCommand } from 'fast-check'
import { count } from '../coverage.ts'
import { settlePromises } from '../scheduler.ts'
import { findDifference, isAnswer, type Observed, withIds } from './compare.ts'
import type { SentCommand } from './family/predict-outcome.ts'
import { initialState } from './initial-state.ts'
import type { RealSession } from './real/real-session.ts'
import type { Outcome, State } from './state.ts'
import { atRest, statesUntilRest } from './turn-progress.ts'

/** What a run knows of one session: its expected state, the length of its log, and the commands sent to it. */
export type SessionPart = { readonly state: State; readonly head: number; readonly sent: SentCommand[] }

/** The state of a run: its current session, the other sessions, pending answers and the moves so far. */
export type ModelRun = {
  state: State
  head: number
  sent: SentCommand[]
  /** Other sessions: forks and their parents. The head is null until the run visits one. */
  readonly others: Map<string, Omit<SessionPart, 'head'> & { readonly head: number | null }>
  /** By ticket: the command of each pending request, and its answer. */
  readonly commands: Map<number, string>
  readonly waiting: Map<number, Promise<Result<Answer>>>
  readonly answers: Map<number, Result<Answer>>
  tickets: number
  /** The lines at the last complete read. */
  lines: string
  readonly done: Move[]
}

/** One move of a run. It prints as code, so that a failing run can be saved as a regression test. */
export type Move = AsyncCommand<ModelRun, RealSession> & {
  /** The actions that run concurrently in it. */
  readonly actions: readonly Action[]
}

/** Something done to a session that takes no time, so that two can run concurrently. */
export type Action = {
  readonly code: string
  /** Binds it to its target; null when there is none. */
  readonly bind: (modelRun: ModelRun, real: RealSession) => BoundAction | null
  /** Whether it is worth doing now; if not, it is left out of the run. */
  readonly isApt?: (state: State) => boolean
}

type Got = Result<Answer> | null

export type BoundAction = {
  /** The command it sends, if it sends one, and the ticket it is sent with. */
  readonly sends?: string
  readonly ticket?: number
  /** Only one action with the same value can run at a time. */
  readonly rival?: string
  readonly perform: () => Promise<Result<Answer>> | null
  /** The same action on the model, in as many steps as it takes. */
  readonly steps: readonly Step[]
}

/** `got` is the real answer, which contains new ids. */
export type Step = (state: State, got: Got) => { readonly state: State; readonly says: Outcome['says'] | null }

/** Runs an action that has no answer. */
export const silently = (act: () => void) => () => {
  act()
  return null
}

export const startModelRun = async (real: RealSession): Promise<ModelRun> => ({
  state: initialState,
  head: (await real.now()).seq,
  sent: [],
  others: new Map(),
  commands: new Map(),
  waiting: new Map(),
  answers: new Map(),
  tickets: 0,
  lines: '',
  done: [],
})

type MoreOfMove = { readonly isApt?: Action['isApt'] | undefined; readonly actions?: readonly Action[] }

export function move(code: string, run: Move['run'], { isApt = () => true, actions = [] }: MoreOfMove = {}): Move {
  const self: Move = {
    actions,
    check: ({ state }) => isApt(state),
    run(modelRun, real) {
      modelRun.done.push(self)
      return run(modelRun, real)
    },
    toString: () => code,
  }
  return self
}

/** Runs one action, and checks which record it wrote. */
export const single = (action: Action): Move =>
  move(action.code, (modelRun, real) => runSingle(action, modelRun, real), action)

export async function runSingle({ code, bind }: Action, modelRun: ModelRun, real: RealSession): Promise<void> {
  const { state, head } = modelRun
  const bound = bind(modelRun, real)
  if (!bound) return
  const [got = null] = await perform(modelRun, [bound])
  const { state: after, says } = applied(bound, state, got)
  const answered = `${code} is answered ${JSON.stringify(got)}`
  if (says) {
    invariant(explains(got, says), `${answered}\n  and must be ${JSON.stringify(says)}`)
    count(`${bound.sends}: ${says.ok ? (says.isPending ? 'pending' : 'accepted') : says.code}`)
  }
  await expectState(modelRun, real, after, answered)
  const isChange = says ? says.ok && says.isChange : !isDeepStrictEqual(onRecord(state), onRecord(modelRun.state))
  invariant(isChange || modelRun.head === head, `${answered}: it changes nothing, but wrote a record`)
  if (!got?.ok || !says?.ok || says.first) return
  const seq = isChange ? head + 1 : head
  invariant(got.value.seq === seq, `${answered}, and must name record ${seq}`)
}

/** Runs two actions concurrently. The result must be that of one order of them. */
export const concurrently = (...actions: readonly [Action, Action]): Move => {
  const code = `concurrently(${actions.map((action) => action.code).join(', ')})`
  return move(code, (modelRun, real) => runConcurrently(code, actions, modelRun, real), { actions })
}

async function runConcurrently(
  code: string,
  actions: readonly Action[],
  modelRun: ModelRun,
  real: RealSession,
): Promise<void> {
  count('together')
  const bound = withoutRivals(actions.flatMap((action) => action.bind(modelRun, real) ?? []))
  const answers = await perform(modelRun, bound)
  const done = bound.map(({ steps }, index) => ({ steps, got: answers[index] ?? null }))
  const seen = await look(modelRun, real)
  const partings: string[] = []
  for (const state of endings(modelRun.state, done)) {
    const parting = settled(state, seen, real)
    if (parting.problem === null) return keep(modelRun, parting.state, seen)
    partings.push(parting.problem)
  }
  const answered = `${code} is answered ${JSON.stringify(answers)}: no order explains that.`
  throw new Error(`${answered}\n  ${[...new Set(partings)].join('\n  or: ')}`)
}

/**
 * Returns whether two actions can run concurrently. Two summaries of a kind cannot be distinguished, and a summary ends
 * once. A fork runs only with other forks, because its moment cannot be seen in the original session.
 */
function withoutRivals(bound: readonly BoundAction[]): readonly BoundAction[] {
  const forks = bound.filter(({ sends }) => sends === 'fork')
  if (forks.length > 0) return forks
  const isAborted = bound.some(({ sends }) => sends === 'abort')
  return bound.filter(({ rival, ticket }, index) => {
    if (rival === undefined) return true
    if (isAborted && ticket !== undefined) return false // starting and aborting a summary are two moves
    return bound.findIndex((other) => other.rival === rival) === index
  })
}

const explains = (got: Got, says: Outcome['says']): boolean =>
  got === null ? says.ok && says.isPending === true : !(says.ok && says.isPending) && isAnswer(got, says)

const applied = ({ steps }: BoundAction, state: State, got: Got): ReturnType<Step> =>
  steps.reduce<ReturnType<Step>>((sum, step) => step(sum.state, got), { state, says: null })

type Done = Pick<BoundAction, 'steps'> & { readonly got: Got }

/** Returns all possible results: each step can happen at any point of the work started by the earlier ones. */
function* endings(state: State, done: readonly Done[]): Generator<State> {
  const open = done.filter(({ steps }) => steps.length > 0)
  if (open.length === 0) return yield state
  for (const now of statesUntilRest(state)) {
    for (const one of open) {
      const [step, ...steps] = one.steps
      const came = step?.(now, one.got)
      if (!came || (came.says && !explains(one.got, came.says))) continue
      yield* endings(
        came.state,
        open.map((other) => (other === one ? { ...one, steps } : other)),
      )
    }
  }
}

/** Waits until the session is idle and compares it with the model. */
export async function expectState(modelRun: ModelRun, real: RealSession, state: State, after: string): Promise<void> {
  const seen = await look(modelRun, real)
  const parting = settled(state, seen, real)
  if (parting.problem !== null) throw new Error(`after ${after}\n  ${parting.problem}`)
  keep(modelRun, parting.state, seen)
}

function settled(
  state: State,
  seen: Observed,
  real: RealSession,
): { readonly state: State; readonly problem: string | null } {
  const rest = withIds(atRest(state), seen)
  return { state: rest, problem: findDifference(rest, seen, real) }
}

function keep(modelRun: ModelRun, state: State, { now, lines }: Observed): void {
  modelRun.state = state
  modelRun.head = now.seq
  if (lines) modelRun.lines = linesOf(now)
  if (state.turn?.context.summary) count('context: a summary')
  if (state.turn && state.turn.context.pinned.length > 0) count('context: a quoted pin')
  for (const { name, born } of state.forks)
    if (name !== null && !modelRun.others.has(name)) modelRun.others.set(name, { state: born, head: null, sent: [] })
  // A cancelled request may fail at any time. It may succeed only if its retry did.
  for (const [ticket, answer] of modelRun.answers) {
    const isInVain = modelRun.waiting.delete(ticket)
    const command = modelRun.commands.get(ticket) ?? ''
    const everywhere = [state, ...[...modelRun.others.values()].map((other) => other.state)]
    const first = everywhere.map(({ answered }) => answered.get(command)).find((one) => one !== undefined)
    modelRun.answers.delete(ticket)
    const isFit = !isInVain || !answer.ok || answer.value.seq === first?.seq
    invariant(isFit, `a cancelled request is answered ${JSON.stringify(answer)}`)
  }
}

const linesOf = ({ sessionId, view }: Observed['now']): string =>
  JSON.stringify([sessionId, view.branch, view.branches])

async function look(modelRun: ModelRun, real: RealSession): Promise<Observed> {
  await settlePromises()
  const now = await real.now()
  const lines = linesOf(now) === modelRun.lines ? null : await real.lines()
  return { now, lines, workspaceTrust: await real.workspaceTrust(now.meta.workspace) }
}

async function perform(modelRun: ModelRun, bound: readonly BoundAction[]): Promise<readonly Got[]> {
  const got: Got[] = bound.map(() => null)
  const hopes = bound.map(({ perform: act }) => act())
  for (const [index, hope] of hopes.entries()) hope?.then((answer) => (got[index] = answer))
  await settlePromises()
  for (const [index, { ticket }] of bound.entries()) {
    const hope = hopes[index]
    if (!hope || got[index] || ticket === undefined) continue
    modelRun.waiting.set(ticket, hope)
    hope.then((answer) => modelRun.answers.set(ticket, answer))
  }
  return got
}

/** Returns the part of a state that is recorded in the log. */
function onRecord({ attachments: _, isLoaded: __, sideWork: ___, turn, ...rest }: State): unknown {
  return { ...rest, turn: turn && { ...turn, streamed: '', saved: '' } }
}
