import fc from 'fast-check'
import { accepted, nothingToDo, refused, type State, stepsMax } from '../state.ts'
import { at, type Key, messagesOn } from '../tree.ts'
import { beginTurn, cutShort, settleCall } from '../turn-progress.ts'
import type { CommandTemplate, Family } from './family.ts'

/** The id of a command that always runs: what is stopped is not recorded, so it stays. */
export const shellId = 'one'

export const abort: CommandTemplate = { code: 'abort', command: () => ({ type: 'abort' }) }
/** Aborts the turn before the one that runs, which must stop nothing, or the one that runs. */
export const abortOther: CommandTemplate = {
  code: 'abortOther',
  command: ({ turns }) => ({ type: 'abort', turn: Math.max(0, turns - 2) }),
}
export const abortThis: CommandTemplate = {
  code: 'abortThis',
  command: ({ turns }) => ({ type: 'abort', turn: Math.max(0, turns - 1) }),
}
/** Ends the command that runs in the background, or one that does not exist. */
export const stopShell = (shell: typeof shellId | 'gone'): CommandTemplate => ({
  code: `stopShell('${shell}')`,
  command: () => ({ type: 'stopBackgroundShell', shell }),
})
export const goOn: CommandTemplate = { code: 'goOn', command: () => ({ type: 'continue' }) }
export const enterPlan: CommandTemplate = { code: 'enterPlan', command: () => ({ type: 'enterPlan' }) }
export const enterExec: CommandTemplate = { code: 'enterExec', command: () => ({ type: 'enterExec' }) }
export const keepPlan: CommandTemplate = { code: 'keepPlan', command: () => ({ type: 'enterExec', keepPlan: true }) }

/** Sets the budget that every run starts with. */
export const setApprovals: CommandTemplate = {
  code: 'setApprovals',
  command: () => ({ type: 'setApprovals', approvals: 'destructive' }),
}
export const setBudgets: CommandTemplate = {
  code: 'setBudgets',
  command: () => ({ type: 'setBudgets', budgets: { maxSteps: stepsMax } }),
}

/** Returns the last answer of the line, if it is not pinned. */
function unpinned(state: State): Key | null {
  const last = messagesOn(state.nodes, state).findLast((key) => at(state, key).said.who === 'agent') ?? null
  return last === null || state.pins.includes(last) ? null : last
}

/** Cancels all pending summaries. */
const hushed = (state: State): State => ({ ...state, sideWork: [] })

/** Commands that stop or continue a turn, and change its mode. */
export const turns: Family = {
  templates: [
    fc.constantFrom(abort, abortThis, abortOther, goOn, goOn, goOn),
    fc.constantFrom(enterPlan, enterPlan, enterExec, keepPlan, setBudgets, setApprovals),
    fc.constantFrom(stopShell(shellId), stopShell('gone')),
  ],
  rules: {
    setBudgets: (state) => accepted(state),
    /** It chooses what is the default already. */
    setApprovals: (state) => accepted(state),
    abort: (state, { turn }) =>
      turn !== undefined && state.turn?.number !== turn
        ? nothingToDo(state)
        : state.turn
          ? accepted(cutShort(hushed(state), 'aborted', state.turn.streamed))
          : nothingToDo(hushed(state)),
    stopBackgroundShell: (state, { shell }) => (shell === shellId ? nothingToDo(state) : refused(state, 'not_found')),
    continue(state) {
      if (state.turn) return refused(state, 'turn_running')
      if (state.last === null || state.last.reason === 'done') return refused(state, 'nothing_to_continue')
      return accepted(beginTurn(state, state.last.turn))
    },
    enterPlan(state) {
      if (state.mode === 'plan') return nothingToDo(state)
      const asked = state.turn?.calls.filter(({ status }) => status === 'asked') ?? []
      return accepted(
        asked.reduce<State>((now, { place }) => settleCall(now, place, 'interrupted'), { ...state, mode: 'plan' }),
      )
    },
    enterExec(state, { keepPlan: isKept = false }) {
      const last = isKept ? unpinned(state) : null
      if (state.mode === 'exec' && last === null) return nothingToDo(state)
      const pins = last === null ? state.pins : [...state.pins, last]
      // The command counts as a change if the mode changes, otherwise if the pin does.
      return accepted({ ...state, mode: 'exec', pins }, state.mode === 'exec' ? { pinned: true } : {})
    },
  },
}
