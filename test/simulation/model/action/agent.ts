import fc, { type Arbitrary } from 'fast-check'
import { count } from '../../coverage.ts'
import { pickOf } from '../family/family.ts'
import { type Action, type Step, silently } from '../model-run.ts'
import { type Answering, answerTo, type Ending, isWanted, type Overload, purposeOf } from '../real/scripted-agents.ts'
import type { State, ToolName, ToolUse, Turn } from '../state.ts'
import { cutShort, failModelCall, settleCall, takeAnswer, withTurn } from '../turn-progress.ts'

type Then = (state: State, turn: Turn) => State

/** Creates an action of the running answer. One of an ended step changes nothing. */
const byModel = (code: string, act: (one: Answering) => void, ...thens: readonly Then[]): Action => ({
  code,
  isApt: ({ turn }) => turn?.phase === 'thinking',
  bind: ({ state: { turn } }, { scriptedAgents }) => {
    const one = answerTo(scriptedAgents)
    if (!one || !turn) return null
    const stepOf =
      (then: Then): Step =>
      (state) => {
        const isMine = state.turn?.phase === 'thinking' && state.turn.step === turn.step
        return { says: null, state: state.turn && isMine ? then(state, state.turn) : state }
      }
    return { perform: silently(() => act(one)), steps: thens.map(stepOf) }
  },
})

const addStreamedText =
  (text: string): Then =>
  (state, { streamed }) =>
    withTurn(state, { streamed: streamed + text })

export const say = (text: string): Action => byModel(`say('${text}')`, (one) => one.say(text), addStreamedText(text))

const codeOf = (uses: readonly ToolUse[]) => `[${uses.map(({ tool, n }) => `{ tool: '${tool}', n: ${n} }`).join(', ')}]`

export const finish = (text: string, uses: readonly ToolUse[] = []): Action =>
  byModel(
    `finish('${text}', ${codeOf(uses)})`,
    (one) => one.end({ text, uses }),
    addStreamedText(text), // it may be aborted after its text and before its calls
    (state, { streamed }) => takeAnswer(state, streamed, uses),
  )

export const fail: Action = byModel(
  'fail',
  (one) => one.end('failure'),
  (state, { streamed }) => cutShort(state, 'failed', streamed),
)

export const overload = (how: Overload): Action =>
  byModel(
    `overload('${how}')`,
    (one) => one.end(how),
    (state, turn) => {
      const after = failModelCall(state, turn, how === 'in a while')
      const end = turn.streamed === '' ? 'given up' : 'in mid-sentence'
      count(`overload: ${after.turn ? (after.turn.isPaused ? 'asked again' : 'another answers') : end}`)
      return after
    },
  )

/** Ends a running call. */
export const work = (pick: number, result: 'ok' | 'failed'): Action => ({
  code: `work(${pick}, '${result}')`,
  isApt: ({ turn }) => turn?.calls.some(({ status }) => status === 'running') ?? false,
  bind: ({ state: { turn } }, { scriptedAgents }) => {
    const call = pickOf(turn?.calls.filter(({ status }) => status === 'running') ?? [], pick)
    const one = scriptedAgents.working.find((held) => isWanted(held) && held.tool === call?.tool && held.n === call.n)
    if (!call || !one) return null
    return {
      perform: silently(() => one.end(result)),
      steps: [
        (state) => {
          const isRunning = state.turn?.calls.some(({ place, status }) => place === call.place && status === 'running')
          return {
            says: null,
            state: isRunning ? settleCall(state, call.place, result === 'ok' ? 'complete' : 'error') : state,
          }
        },
      ],
    }
  },
})

/** A paused process owns the session until another process wakes it, and may write its summary until then. */
const isHarmless = (one: Answering): boolean => one.life.status !== 'paused' || purposeOf(one) === null

/** Lets an aborted call, or one of a killed process, answer late. It must have no effect. */
export const late = (pick: number, ending: Ending): Action => ({
  code: `late(${pick}, ${typeof ending === 'string' ? `'${ending}'` : `{ text: '${ending.text}', uses: ${codeOf(ending.uses)} }`})`,
  bind: (_, { scriptedAgents }) => {
    const one = pickOf(
      [...scriptedAgents.answering.filter(isHarmless), ...scriptedAgents.working].filter((held) => !isWanted(held)),
      pick,
    )
    if (!one) return null
    const answerLate = () => {
      count(
        `late: ${'tool' in one ? 'call' : 'answer'} of ${one.life.status === 'living' ? 'a turn' : `a ${one.life.status} process`}`,
      )
      if ('tool' in one) return one.end(typeof ending === 'string' ? 'failed' : 'ok')
      one.say('late')
      one.end(ending)
    }
    return { perform: silently(answerLate), steps: [(state) => ({ says: null, state })] }
  },
})

const aUse = fc.record({
  tool: fc.constantFrom<ToolName[]>('touch', 'shell', 'look', 'touch', 'shell', 'nowhere'),
  n: fc.nat(1),
})
/** Different calls in one answer, because the run distinguishes them by tool and argument. */
const uses = fc.uniqueArray(aUse, { maxLength: 3, selector: ({ tool, n }) => `${tool} ${n}` })
const aWord = fc.constantFrom('', 'x', 'y')
const anAnswer = fc.record({ text: aWord, uses })

export const anAgentAction: Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: anAnswer.map(({ text, uses: asked }) => finish(text, asked)) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.nat(2), fc.constantFrom('ok' as const, 'failed' as const))
      .map(([pick, result]) => work(pick, result)),
  },
  { weight: 1, arbitrary: fc.constantFrom('x', 'y').map(say) },
  { weight: 1, arbitrary: fc.constant(fail) },
  { weight: 2, arbitrary: fc.constantFrom<Overload[]>('in a while', 'in an hour').map(overload) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.nat(3), fc.oneof(anAnswer, fc.constant('failure' as const)))
      .map(([pick, ending]) => late(pick, ending)),
  },
)
