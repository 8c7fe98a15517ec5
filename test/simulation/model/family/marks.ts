import fc from 'fast-check'
import { isInContext } from '../model-context.ts'
import { accepted, refused, type State } from '../state.ts'
import { at, grow, type Key, messagesOn, turnNow } from '../tree.ts'
import { type CommandTemplate, type Family, pickOf, unknownId } from './family.ts'

/** Which message: one of the line, one of another line, or one that does not exist. */
type Which = 'here' | 'elsewhere' | 'none'

function messageOf(state: State, which: Which, pick: number, isCall: boolean): number {
  const here = messagesOn(state.nodes, state)
  const isMeant = (key: Key) => at(state, key).said.who !== 'end' && (!isCall || at(state, key).said.who === 'call')
  const all = [...state.nodes.keys()].filter(isMeant)
  const some = all.filter((key) => here.includes(key) === (which === 'here'))
  const key = which === 'none' ? null : pickOf(some.toReversed(), pick)
  return (key === null ? null : at(state, key).id) ?? unknownId
}

export const togglePin = (which: Which, pick = 0): CommandTemplate => ({
  code: `togglePin('${which}', ${pick})`,
  command: (state) => ({ type: 'togglePin', message: messageOf(state, which, pick, false) }),
})
export const toggleCollapse = (which: Which, pick = 0): CommandTemplate => ({
  code: `toggleCollapse('${which}', ${pick})`,
  command: (state) => ({ type: 'toggleToolCollapse', message: messageOf(state, which, pick, true) }),
})
export const toggleAll: CommandTemplate = { code: 'toggleAll', command: () => ({ type: 'toggleAllToolCollapses' }) }
export const addNote = (text: string): CommandTemplate => ({
  code: `addNote('${text}')`,
  command: () => ({ type: 'addSystemMessage', text }),
})

export const leaveEvent = (eventId: string): CommandTemplate => ({
  code: `leaveEvent('${eventId}')`,
  command: () => ({ type: 'appendClientEvent', event: { eventId, type: 'shown' } }),
})

const keyOf = ({ nodes }: State, id: number): Key | null => {
  const key = nodes.findIndex((node) => node.id === id)
  return key === -1 ? null : key
}
const onLine = (state: State, key: Key | null): key is Key =>
  key !== null && messagesOn(state.nodes, state).includes(key)

export const isFolded = ({ folded }: State, key: Key): boolean => folded.all !== folded.except.includes(key)

/** Returns whether calls are shown collapsed. Without calls, it is the setting for the next one. */
function anyFolded(state: State): boolean {
  const calls = messagesOn(state.nodes, state).filter((key) => at(state, key).said.who === 'call')
  return calls.length === 0 ? state.folded.all : calls.some((key) => isFolded(state, key))
}

const aMessage = fc.tuple(fc.constantFrom<Which[]>('here', 'here', 'here', 'elsewhere', 'none'), fc.nat(9))

/** Commands that mark messages or add notes. */
export const marks: Family = {
  templates: [
    aMessage.map(([which, pick]) => togglePin(which, pick)),
    fc.oneof(
      aMessage.map(([which, pick]) => toggleCollapse(which, pick)),
      fc.constant(toggleAll),
    ),
    fc.oneof(fc.constantFrom('a note', ' ').map(addNote), fc.constantFrom('one', 'two').map(leaveEvent)),
  ],
  rules: {
    /** For other clients only: no model receives it and our page does not show it. */
    appendClientEvent: (state) => accepted(state),
    togglePin(state, { message }) {
      const key = keyOf(state, message)
      if (key !== null && state.pins.includes(key))
        return accepted({ ...state, pins: state.pins.filter((pin) => pin !== key) }, { pinned: false })
      if (!onLine(state, key)) return refused(state, 'message_not_found')
      if (!isInContext(state, key)) return refused(state, 'bad_request')
      return accepted({ ...state, pins: [...state.pins, key] }, { pinned: true })
    },
    toggleToolCollapse(state, { message }) {
      const key = keyOf(state, message)
      if (!onLine(state, key) || at(state, key).said.who !== 'call') return refused(state, 'message_not_found')
      const { all, except } = state.folded
      const others = except.filter((one) => one !== key)
      const turned = { all, except: others.length < except.length ? others : [...others, key] }
      return accepted({ ...state, folded: turned }, { collapsed: !isFolded(state, key) })
    },
    toggleAllToolCollapses(state) {
      const all = !anyFolded(state)
      return accepted({ ...state, folded: { all, except: [] } }, { collapsed: all })
    },
    addSystemMessage(state, { text }) {
      if (text.trim() === '') return refused(state, 'empty_prompt')
      return accepted(
        grow(state, { who: 'note', kind: 'system', code: null, text }, { turn: turnNow(state), round: null }),
      )
    },
  },
}
