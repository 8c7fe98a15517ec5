import fc from 'fast-check'
import { beginTurn, cutShort, settleCall } from '../course.ts'
import { accepted, nothingToDo, refused, type State, stepsMax } from '../state.ts'
import type { Family, Wish } from './family.ts'

export const abort: Wish = { code: 'abort', command: () => ({ type: 'abort' }) }
export const goOn: Wish = { code: 'goOn', command: () => ({ type: 'continue' }) }
export const enterPlan: Wish = { code: 'enterPlan', command: () => ({ type: 'enterPlan' }) }
export const enterExec: Wish = { code: 'enterExec', command: () => ({ type: 'enterExec' }) }
export const keepPlan: Wish = { code: 'keepPlan', command: () => ({ type: 'enterExec', keepPlan: true }) }

/** The limit that every story begins with, said again. */
export const setBudgets: Wish = {
  code: 'setBudgets',
  command: () => ({ type: 'setBudgets', budgets: { maxSteps: stepsMax } }),
}

/** The last answer is kept in sight for good. */
function pinLast(state: State): State {
  const at = state.transcript.findLastIndex(({ who }) => who === 'agent')
  const pin = state.transcript.map((said, index) =>
    index === at && said.who === 'agent' ? { ...said, isPinned: true } : said,
  )
  return { ...state, transcript: pin }
}
const isPinned = ({ transcript }: State): boolean => {
  const last = transcript.findLast(({ who }) => who === 'agent')
  return last?.who !== 'agent' || last.isPinned
}

/** What a turn is told from outside, and the mode it runs in. */
export const turns: Family = {
  wishes: [
    fc.constantFrom(abort, abort, goOn, goOn, goOn),
    fc.constantFrom(enterPlan, enterPlan, enterExec, keepPlan, setBudgets),
  ],
  rules: {
    setBudgets: (state) => accepted(state),
    abort: (state) => (state.turn ? accepted(cutShort(state, 'aborted', state.turn.streamed)) : nothingToDo(state)),
    continue(state) {
      if (state.turn) return refused(state, 'turn_running')
      return state.last === 'done' ? refused(state, 'nothing_to_continue') : accepted(beginTurn(state))
    },
    enterPlan(state) {
      if (state.mode === 'plan') return nothingToDo(state)
      const asked = state.turn?.calls.filter(({ status }) => status === 'asked') ?? []
      return accepted(
        asked.reduce<State>((now, { place }) => settleCall(now, place, 'interrupted'), { ...state, mode: 'plan' }),
      )
    },
    enterExec(state, { keepPlan: isKept = false }) {
      const kept = isKept ? pinLast(state) : state
      const isChange = state.mode === 'plan' || (isKept && !isPinned(state))
      return isChange ? accepted({ ...kept, mode: 'exec' }) : nothingToDo(state)
    },
  },
}
