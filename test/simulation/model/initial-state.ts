import { defaultModel, type State } from './state.ts'
import { grow, type Said } from './tree.ts'

const messages: readonly (readonly [Said, number | null])[] = [
  [{ who: 'user', text: 'Begin.' }, null],
  [{ who: 'agent', text: 'Ready.', isCut: false }, 1],
  [{ who: 'usage' }, 1],
  [{ who: 'end', reason: 'done' }, null],
]

const unborn: State = {
  mode: 'exec',
  model: defaultModel,
  thinkingLevel: 'off',
  turn: null,
  tip: null,
  hidden: 0,
  cut: null,
  isBare: false,
  turns: 1,
  last: { turn: 0, reason: 'done' },
  step: 1,
  steering: [],
  followUps: [],
  trust: [],
  skills: [],
  serversOff: [],
  boundaries: [],
  workspace: [],
  elsewhere: [],
  workdir: '/work',
  preview: null,
  title: '',
  isPinned: false,
  nodes: [],
  branch: null,
  branches: [],
  branchesNamed: 0,
  pins: [],
  folded: { all: false, except: [] },
  undone: [],
  sideWork: [],
  forks: [],
  depth: 0,
  decided: [],
  attachments: [],
  isLoaded: true,
  answered: new Map(),
}

/** The initial state of every run, after one turn, because an empty session may be removed. */
export const initialState: State = messages.reduce(
  (state, [one, round]) => grow(state, one, { turn: 0, round, ...(round !== null && { begins: 0 }) }),
  unborn,
)
