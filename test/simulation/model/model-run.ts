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

/** What a story knows of one session: how it must stand, how long its log is, what was ever sent to it. */
export type SessionPart = { readonly state: State; readonly head: number; readonly sent: SentCommand[] }

/** What a story knows: of the session it is about, of the others, who waits for an answer, and what came to pass. */
export type ModelRun = {
  state: State
  head: number
  sent: SentCommand[]
  /** Forks, and what was forked, while the story is about another; without a head, nobody has been there yet. */
  readonly others: Map<string, Omit<SessionPart, 'head'> & { readonly head: number | null }>
  /** By ticket: the command of each sending that waits, and what was heard of it, as soon as it is. */
  readonly commands: Map<number, string>
  readonly waiting: Map<number, Promise<Result<Answer>>>
  readonly heard: Map<number, Result<Answer>>
  tickets: number
  /** Which lines there were when all of them were last read. */
  lines: string
  readonly told: Move[]
}

/** One move of a story: printed as the code that makes it, so that a story that found something can be kept. */
export type Move = AsyncCommand<ModelRun, RealSession> & {
  /** What happens in it at once, and might have happened one by one. */
  readonly actions: readonly Action[]
}

/** Something done to a session that takes no time, so that two of them can be done at once. */
export type Action = {
  readonly code: string
  /** Settles whom and what it is about; null when there is nothing it could be done to. */
  readonly bind: (story: ModelRun, real: RealSession) => BoundAction | null
  /** Whether it is worth doing now; one that is not is left out of the story. */
  readonly isApt?: (state: State) => boolean
}

type Got = Result<Answer> | null

export type BoundAction = {
  /** The command it sends, if it sends one, and the ticket it is sent with. */
  readonly sends?: string
  readonly ticket?: number
  /** Of those with the same, only one can be done at once. */
  readonly rival?: string
  readonly perform: () => Promise<Result<Answer>> | null
  /** The same, done to what must be, in as many steps as it takes. */
  readonly steps: readonly Step[]
}

/** `got` is what was heard: it names what was made. */
export type Step = (state: State, got: Got) => { readonly state: State; readonly says: Outcome['says'] | null }

/** A action that nobody is answered for. */
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
  heard: new Map(),
  tickets: 0,
  lines: '',
  told: [],
})

type MoreOfMove = { readonly isApt?: Action['isApt'] | undefined; readonly actions?: readonly Action[] }

export function move(code: string, run: Move['run'], { isApt = () => true, actions = [] }: MoreOfMove = {}): Move {
  const self: Move = {
    actions,
    check: ({ state }) => isApt(state),
    run(story, real) {
      story.told.push(self)
      return run(story, real)
    },
    toString: () => code,
  }
  return self
}

/** A action by itself: then it is also known which record it must have written, or that it wrote none. */
export const single = (action: Action): Move =>
  move(action.code, (story, real) => runSingle(action, story, real), action)

export async function runSingle({ code, bind }: Action, story: ModelRun, real: RealSession): Promise<void> {
  const { state, head } = story
  const bound = bind(story, real)
  if (!bound) return
  const [got = null] = await perform(story, [bound])
  const { state: after, says } = applied(bound, state, got)
  const heard = `${code} is answered ${JSON.stringify(got)}`
  if (says) {
    invariant(explains(got, says), `${heard}\n  and must be ${JSON.stringify(says)}`)
    count(`${bound.sends}: ${says.ok ? (says.isPending ? 'pending' : 'accepted') : says.code}`)
  }
  await expectState(story, real, after, heard)
  const isChange = says ? says.ok && says.isChange : !isDeepStrictEqual(onRecord(state), onRecord(story.state))
  invariant(isChange || story.head === head, `${heard}: it changes nothing, and wrote a record`)
  if (!got?.ok || !says?.ok || says.first) return
  const seq = isChange ? head + 1 : head
  invariant(got.value.seq === seq, `${heard}, and must name record ${seq}`)
}

/** Two actions at once: the session must be as if one had come after the other, whichever it was. */
export const concurrently = (...actions: readonly [Action, Action]): Move => {
  const code = `concurrently(${actions.map((action) => action.code).join(', ')})`
  return move(code, (story, real) => runConcurrently(code, actions, story, real), { actions })
}

async function runConcurrently(
  code: string,
  actions: readonly Action[],
  story: ModelRun,
  real: RealSession,
): Promise<void> {
  count('together')
  const bound = withoutRivals(actions.flatMap((action) => action.bind(story, real) ?? []))
  const answers = await perform(story, bound)
  const done = bound.map(({ steps }, index) => ({ steps, got: answers[index] ?? null }))
  const seen = await look(story, real)
  const partings: string[] = []
  for (const state of endings(story.state, done)) {
    const parting = settled(state, seen, real)
    if (parting.problem === null) return keep(story, parting.state, seen)
    partings.push(parting.problem)
  }
  const heard = `${code} is answered ${JSON.stringify(answers)}: no order explains that.`
  throw new Error(`${heard}\n  ${[...new Set(partings)].join('\n  or: ')}`)
}

/**
 * Two summaries of a kind at once could not be told apart, and one is not ended twice. A fork is made with nothing but
 * other forks: of which moment it is could not be told from the session it was made of.
 */
function withoutRivals(bound: readonly BoundAction[]): readonly BoundAction[] {
  const forks = bound.filter(({ sends }) => sends === 'fork')
  if (forks.length > 0) return forks
  const isAborted = bound.some(({ sends }) => sends === 'abort')
  return bound.filter(({ rival, ticket }, index) => {
    if (rival === undefined) return true
    if (isAborted && ticket !== undefined) return false // it is begun and stopped in one, which is two moves
    return bound.findIndex((other) => other.rival === rival) === index
  })
}

const explains = (got: Got, says: Outcome['says']): boolean =>
  got === null ? says.ok && says.isPending === true : !(says.ok && says.isPending) && isAnswer(got, says)

const applied = ({ steps }: BoundAction, state: State, got: Got): ReturnType<Step> =>
  steps.reduce<ReturnType<Step>>((sum, step) => step(sum.state, got), { state, says: null })

type Done = Pick<BoundAction, 'steps'> & { readonly got: Got }

/** All that may come of them: each next step may come at any point of what the ones before it have set going. */
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

/** Lets the session come to rest and holds it against what it must be. */
export async function expectState(story: ModelRun, real: RealSession, state: State, after: string): Promise<void> {
  const seen = await look(story, real)
  const parting = settled(state, seen, real)
  if (parting.problem !== null) throw new Error(`after ${after}\n  ${parting.problem}`)
  keep(story, parting.state, seen)
}

function settled(
  state: State,
  seen: Observed,
  real: RealSession,
): { readonly state: State; readonly problem: string | null } {
  const rest = withIds(atRest(state), seen)
  return { state: rest, problem: findDifference(rest, seen, real) }
}

function keep(story: ModelRun, state: State, { now, lines }: Observed): void {
  story.state = state
  story.head = now.seq
  if (lines) story.lines = linesOf(now)
  if (state.turn?.told.summary) count('told: a summary')
  if (state.turn && state.turn.told.pinned.length > 0) count('told: a pin, quoted')
  for (const { name, born } of state.forks)
    if (name !== null && !story.others.has(name)) story.others.set(name, { state: born, head: null, sent: [] })
  // Whoever waited in vain may hear so, whenever that is; that all went well, only if it did when it was sent again.
  for (const [ticket, answer] of story.heard) {
    const isInVain = story.waiting.delete(ticket)
    const command = story.commands.get(ticket) ?? ''
    const everywhere = [state, ...[...story.others.values()].map((other) => other.state)]
    const first = everywhere.map(({ answered }) => answered.get(command)).find((one) => one !== undefined)
    story.heard.delete(ticket)
    const isFit = !isInVain || !answer.ok || answer.value.seq === first?.seq
    invariant(isFit, `what nobody wants any more is answered ${JSON.stringify(answer)}`)
  }
}

const linesOf = ({ sessionId, view }: Observed['now']): string =>
  JSON.stringify([sessionId, view.branch, view.branches])

async function look(story: ModelRun, real: RealSession): Promise<Observed> {
  await settlePromises()
  const now = await real.now()
  const lines = linesOf(now) === story.lines ? null : await real.lines()
  return { now, lines, workspaceTrust: await real.workspaceTrust(now.meta.workspace) }
}

async function perform(story: ModelRun, bound: readonly BoundAction[]): Promise<readonly Got[]> {
  const got: Got[] = bound.map(() => null)
  const hopes = bound.map(({ perform: act }) => act())
  for (const [index, hope] of hopes.entries()) hope?.then((answer) => (got[index] = answer))
  await settlePromises()
  for (const [index, { ticket }] of bound.entries()) {
    const hope = hopes[index]
    if (!hope || got[index] || ticket === undefined) continue
    story.waiting.set(ticket, hope)
    hope.then((answer) => story.heard.set(ticket, answer))
  }
  return got
}

/** What of a state is in the log. */
function onRecord({ seats: _, isAwake: __, sideWork: ___, turn, ...rest }: State): unknown {
  return { ...rest, turn: turn && { ...turn, streamed: '', saved: '' } }
}
