import type { ThinkingLevel } from '@holdfast/protocol'
import fc from 'fast-check'
import { accepted, defaultModel, nothingToDo, refused, type State } from '../state.ts'
import { chooseModel } from '../turn-progress.ts'
import type { CommandTemplate, Family } from './family.ts'

export const setModel = (model: string): CommandTemplate => ({
  code: `setModel('${model}')`,
  command: () => ({ type: 'setModel', model }),
})
export const cycleModel = (direction: 'next' | 'previous'): CommandTemplate => ({
  code: `cycleModel('${direction}')`,
  command: () => ({ type: 'cycleModel', direction }),
})
export const setThinking = (level: ThinkingLevel): CommandTemplate => ({
  code: `setThinking('${level}')`,
  command: () => ({ type: 'setThinkingLevel', level }),
})
export const cycleThinking: CommandTemplate = { code: 'cycleThinking', command: () => ({ type: 'cycleThinkingLevel' }) }
export const refreshCredentials: CommandTemplate = {
  code: 'refreshCredentials',
  command: () => ({ type: 'refreshCredentials' }),
}

export const noModel = 'sim/nowhere'
const narrowModel = 'sim/other'
/** The configured rotation of models. The second entry has a thinking level. */
export const stops = [
  { model: defaultModel },
  { model: narrowModel, thinkingLevel: 'high' },
  { model: 'sim/third' },
] as const
/** Returns the thinking levels of a model. */
export const levelsOf = (model: string): readonly ThinkingLevel[] =>
  model === narrowModel ? ['off', 'high'] : ['off', 'low', 'medium', 'high']

/** Returns the next item, and the first after the last or for an unknown item. */
const nextOf = <Item>(items: readonly Item[], from: Item): Item => items[items.indexOf(from) + 1] ?? (items[0] as Item) // never empty

function go(state: State, stride: 1 | 2) {
  const index = (stops.findIndex(({ model }) => model === state.model) + stride) % stops.length
  const stop = stops[index] ?? stops[0]
  const thinkingLevel = 'thinkingLevel' in stop ? stop.thinkingLevel : state.thinkingLevel
  const answer = { model: stop.model, index, total: stops.length, thinkingLevel }
  return accepted(chooseModel({ ...state, thinkingLevel }, stop.model), answer)
}

/** Commands about the model and its thinking level. */
export const modelCommands: Family = {
  templates: [
    fc.oneof(
      fc.constantFrom(defaultModel, narrowModel, noModel).map(setModel),
      fc.constantFrom<('next' | 'previous')[]>('next', 'previous').map(cycleModel),
      fc.constantFrom<ThinkingLevel[]>('off', 'low', 'high').map(setThinking),
      fc.constantFrom(cycleThinking, cycleThinking, refreshCredentials),
    ),
  ],
  rules: {
    setModel(state, { model }) {
      if (model === noModel) return refused(state, 'unknown_model')
      return model === state.model ? nothingToDo(state) : accepted(chooseModel(state, model))
    },
    /** There are three models, so one step back is two steps forward. */
    cycleModel: (state, { direction }) => go(state, direction === 'previous' ? 2 : 1),
    setThinkingLevel(state, { level }) {
      if (!levelsOf(state.model).includes(level)) return refused(state, 'unknown_level')
      if (level === state.thinkingLevel) return nothingToDo(state)
      return accepted({ ...state, thinkingLevel: level }, { thinkingLevel: level })
    },
    cycleThinkingLevel(state) {
      const thinkingLevel = nextOf(levelsOf(state.model), state.thinkingLevel)
      return accepted({ ...state, thinkingLevel }, { thinkingLevel })
    },
    /** Credentials do not change here. */
    refreshCredentials: (state) => nothingToDo(state),
  },
}
