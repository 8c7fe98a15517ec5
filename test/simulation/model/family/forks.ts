import fc from 'fast-check'
import { accepted, refused, type State } from '../state.ts'
import { endOn, messagesOn } from '../tree.ts'
import type { CommandTemplate, Family } from './family.ts'
import { lineAt } from './lines.ts'
import { titleOf } from './metadata.ts'

export const fork = (at: number | null): CommandTemplate => ({
  code: `fork(${at})`,
  command: () => ({ type: 'fork', ...(at !== null && { at }) }),
})

/** Returns the initial state of a fork: history, marks and settings, without running work. */
function bornOf(state: State, end: number): State {
  const line = lineAt(state, end)
  const shared = messagesOn(state.nodes, line)
  const way = messagesOn(state.nodes, { ...line, hidden: 0 })
  return {
    ...state,
    ...line,
    // Messages of other lines are not part of the fork, so it may use their ids again.
    nodes: state.nodes.map((node, key) => (way.includes(key) ? node : { ...node, id: null })),
    turn: null,
    steering: [],
    followUps: [],
    trust: [],
    boundaries: [],
    decided: [],
    attachments: [],
    sideWork: [],
    forks: [],
    branch: null,
    branches: [],
    branchesNamed: 0,
    pins: state.pins.filter((pin) => shared.includes(pin)),
    folded: { all: false, except: [] },
    title: `${titleOf(state)} (fork)`,
    isPinned: false,
    depth: state.depth + 1,
    isLoaded: false,
    answered: new Map(),
  }
}

/** Creates a session with the same history. During a turn, it forks the history before that turn. */
export const forks: Family = {
  templates: [fc.constantFrom(null, null, 0, 1, 2).map(fork)],
  rules: {
    fork(state, { at }, { id }) {
      const end = endOn(state, at ?? null)
      if (end === null) return refused(state, 'turn_not_found')
      const forked = { command: id, name: null, born: bornOf(state, end) }
      return accepted({ ...state, forks: [...state.forks, forked] }, { session: anyName })
    },
  },
}

/** Replaces the unknown id of the fork with the one of the answer. */
export const anyName = '*'
