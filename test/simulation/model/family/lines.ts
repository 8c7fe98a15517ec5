import type { SeedMessage } from '@holdfast/protocol'
import fc from 'fast-check'
import { activeCheckpoint, isInContext } from '../model-context.ts'
import { accepted, nothingToDo, type Outcome, refused, type State } from '../state.ts'
import { at, endOn, hideAllBut, type Line, lineOf, messagesOn } from '../tree.ts'
import { write } from './context.ts'
import { type CommandTemplate, type Family, pickOf } from './family.ts'
import { previewOf } from './metadata.ts'
import { seeds, withSeedMessages } from './seed-messages.ts'

type By = 'name' | 'index'

export const branchAt = (turn: number): CommandTemplate => ({
  code: `branchAt(${turn})`,
  command: () => ({ type: 'branchAt', turn }),
})
export const rewind = (turn: number): CommandTemplate => ({
  code: `rewind(${turn})`,
  command: () => ({ type: 'rewind', turn }),
})
export const restoreFiles = (turn: number): CommandTemplate => ({
  code: `restoreFiles(${turn})`,
  command: () => ({ type: 'restoreFiles', turn }),
})
/** Switches to a saved branch, to the current one, or to one that does not exist. */
export const switchTo = (which: 'kept' | 'present' | 'none', by: By = 'name', pick = 0): CommandTemplate => ({
  code: `switchTo('${which}', '${by}', ${pick})`,
  command: ({ branches, branch }) => {
    const kept = pickOf(branches, pick)
    if (which === 'present') return { type: 'switchBranch', branch: branch ?? 'nowhere' }
    if (which === 'none' || !kept) return { type: 'switchBranch', branch: by === 'name' ? 'nowhere' : branches.length }
    return { type: 'switchBranch', branch: by === 'name' ? kept.name : branches.indexOf(kept) }
  },
})
export const truncate = (keepLast: number): CommandTemplate => ({
  code: `truncate(${keepLast})`,
  command: () => ({ type: 'truncateHistory', keepLast }),
})
export const seedMessages = (seed: keyof typeof seeds): CommandTemplate => ({
  code: `seedMessages('${seed}')`,
  command: () => ({ type: 'seedMessages', messages: [...seeds[seed]] }),
})
export const setHistory = (seed: keyof typeof seeds | 'none'): CommandTemplate => ({
  code: `setHistory('${seed}')`,
  command: () => ({ type: 'setHistory', messages: seed === 'none' ? [] : [...seeds[seed]] }),
})

type Move = { readonly line: Line; readonly name?: string | null; readonly isSwitch?: boolean }

/** Moves to another line. The current line is saved as a branch, with its name or a new one. */
function leave(state: State, { line, name = null, isSwitch = false }: Move): Outcome {
  const number = state.branchesNamed + 1
  const kept = state.branch ?? `branch-${number}`
  const others = state.branches.filter((one) => one.name !== name)
  const moved: State = {
    ...state,
    ...line,
    preview: isSwitch ? null : previewOf(state),
    branch: name,
    branches: [...others, { ...lineOf(state), name: kept }],
    branchesNamed: state.branch === null ? number : state.branchesNamed,
  }
  return accepted(moved, { branch: isSwitch ? name : kept })
}

/** Goes back to the end of a turn. */
function standAt(state: State, turn: number): Outcome {
  if (state.turn) return refused(state, 'turn_running')
  const end = endOn(state, turn)
  if (end === null) return refused(state, 'turn_not_found')
  return leave(state, { line: lineAt(state, end) })
}

/** Returns the line up to the end of a turn. */
export function lineAt(state: State, end: number): Line {
  const { turn, said } = at(state, end)
  const reason = said.who === 'end' ? said.reason : 'done'
  const held = activeCheckpoint(state)
  const isBare = state.isBare || (held !== null && messagesOn(state.nodes, state).includes(held.key))
  return { ...lineOf(state), tip: end, isBare: state.hidden > 0 && isBare, turns: turn + 1, last: { turn, reason } }
}

function addSeeds(state: State, messages: readonly SeedMessage[]): State | null {
  return state.turn ? null : withSeedMessages(state, messages)
}

const aTurn = fc.nat(4)
const aSeed = fc.constantFrom(...(Object.keys(seeds) as (keyof typeof seeds)[])) // the keys of a literal

/** Commands that change the current line. Nodes are only added to the tree. */
export const lines: Family = {
  templates: [
    aTurn.map(branchAt),
    fc.oneof({ weight: 3, arbitrary: aTurn.map(rewind) }, { weight: 1, arbitrary: aTurn.map(restoreFiles) }),
    fc
      .tuple(
        fc.constantFrom<('kept' | 'present' | 'none')[]>('kept', 'kept', 'kept', 'present', 'none'),
        fc.constantFrom<By[]>('name', 'index'),
        fc.nat(3),
      )
      .map(([which, by, pick]) => switchTo(which, by, pick)),
    fc.oneof(
      fc.nat(9).map(truncate),
      aSeed.map(seedMessages),
      fc.oneof(aSeed, fc.constant('none' as const)).map(setHistory),
    ),
  ],
  rules: {
    branchAt: (state, { turn }) => standAt(state, turn),
    rewind: (state, { turn }) => standAt(state, turn),
    /** The tools of the model change no files. */
    restoreFiles(state, { turn = 0 }) {
      if (state.turn) return refused(state, 'turn_running')
      return endOn(state, turn) === null ? refused(state, 'turn_not_found') : nothingToDo(state)
    },
    switchBranch(state, { branch }) {
      if (state.turn) return refused(state, 'turn_running')
      if (branch === state.branch) return nothingToDo(state)
      const found =
        typeof branch === 'number' ? state.branches[branch] : state.branches.find(({ name }) => name === branch)
      if (!found) return refused(state, 'branch_not_found')
      return leave(state, { line: lineOf(found), name: found.name, isSwitch: true })
    },
    /** Turns keep their numbers. */
    truncateHistory(state, { keepLast = 0 }) {
      if (state.turn) return refused(state, 'turn_running')
      const messages = messagesOn(state.nodes, state).filter((key) => isInContext(state, key))
      if (keepLast >= messages.length) return nothingToDo(state)
      const hidden = hideAllBut(state, messages, keepLast)
      // The summary stays valid, even if its messages are hidden.
      const cut = keepLast === 0 ? null : (messages.at(-keepLast) ?? null)
      return leave(state, {
        line: { ...lineOf(state), hidden, cut, isBare: state.isBare && activeCheckpoint(state) === null },
      })
    },
    setHistory(state, { messages }) {
      if (state.turn) return refused(state, 'turn_running')
      const { says, state: left } = leave(state, {
        line: { tip: null, hidden: 0, cut: null, isBare: false, turns: 0, last: null },
      })
      const held = activeCheckpoint(state)?.said
      const begun = held?.isSet ? write(left, { ...held, from: left.nodes.length + 1, prompt: null }) : left
      const seeded = addSeeds({ ...begun, preview: null }, messages as readonly SeedMessage[])
      return seeded ? { says, state: seeded } : refused(state, 'bad_request')
    },
    seedMessages(state, { messages }) {
      if (state.turn) return refused(state, 'turn_running')
      const seeded = addSeeds(state, messages as readonly SeedMessage[])
      return seeded ? accepted(seeded) : refused(state, 'bad_request')
    },
  },
}
