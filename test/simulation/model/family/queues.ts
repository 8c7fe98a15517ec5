import type { Queue } from '@holdfast/protocol'
import fc from 'fast-check'
import { accepted, type Entry, nothingToDo, type Outcome, refused, type State } from '../state.ts'
import { type CommandTemplate, type Family, pickOf, unknownId } from './family.ts'
import { aText } from './prompts.ts'

const waiting = ({ steering, followUps }: State): readonly Entry[] => [...steering, ...followUps]
const listOf = (state: State, queue: Queue) => (queue === 'steering' ? state.steering : state.followUps)
const withList = (state: State, queue: Queue, entries: readonly Entry[]): State =>
  queue === 'steering' ? { ...state, steering: entries } : { ...state, followUps: entries }

/** Returns the queue entry for a number; the highest number is an unknown entry. */
const pickMax = 3
const entryAt = (state: State, pick: number): number =>
  pick === pickMax ? unknownId : (pickOf(waiting(state), pick)?.id ?? unknownId)

/** New orders: reversed, unchanged, without the last, with a duplicate, or with an unknown entry. */
const orders = {
  reversed: (ids: readonly number[]) => ids.toReversed(),
  same: (ids: readonly number[]) => ids,
  half: (ids: readonly number[]) => ids.slice(0, -1),
  twice: (ids: readonly number[]) => ids.concat(ids.slice(0, 1)),
  strange: (ids: readonly number[]) => [...ids, unknownId],
}
type Order = keyof typeof orders

export const recallQueues: CommandTemplate = { code: 'recallQueues', command: () => ({ type: 'recallQueues' }) }
export const clearQueues: CommandTemplate = { code: 'clearQueues', command: () => ({ type: 'clearQueues' }) }
export const dequeueSteering: CommandTemplate = {
  code: 'dequeueSteering',
  command: () => ({ type: 'dequeueSteering' }),
}
export const removeEntry = (pick: number): CommandTemplate => ({
  code: `removeEntry(${pick})`,
  command: (state) => ({ type: 'removeQueueEntry', entry: entryAt(state, pick) }),
})
export const editEntry = (pick: number, content: string): CommandTemplate => ({
  code: `editEntry(${pick}, '${content}')`,
  command: (state) => ({ type: 'editQueueEntry', entry: entryAt(state, pick), content }),
})
export const reorderQueue = (queue: Queue, order: Order): CommandTemplate => ({
  code: `reorderQueue('${queue}', '${order}')`,
  command: (state) => {
    const entries = orders[order](listOf(state, queue).map(({ id }) => id))
    return { type: 'reorderQueue', queue, entries: entries.length > 0 ? [...entries] : [unknownId] }
  },
})

/** Removes entries from the queue and returns them in the answer. */
function takeBack(state: State, entries: readonly Entry[], isWanted: boolean): Outcome {
  if (entries.length === 0) return nothingToDo(state)
  const without = (list: readonly Entry[]) => list.filter((one) => !entries.includes(one))
  const left = { ...state, steering: without(state.steering), followUps: without(state.followUps) }
  return accepted(left, isWanted ? { entries: entries.map(asShown) } : {})
}

export const asShown = ({ id, queue, text }: Entry) => ({ id, queue, content: [{ type: 'text', text }] })

export const queues: Family = {
  templates: [
    fc.constantFrom(recallQueues, clearQueues, dequeueSteering),
    fc.nat(pickMax).map(removeEntry),
    fc.tuple(fc.nat(pickMax), aText).map(([pick, text]) => editEntry(pick, text)),
    fc
      .tuple(fc.constantFrom<Queue[]>('steering', 'follow_up'), fc.constantFrom(...(Object.keys(orders) as Order[]))) // the keys of a literal
      .map(([queue, order]) => reorderQueue(queue, order)),
  ],
  rules: {
    recallQueues: (state) => takeBack(state, waiting(state), true),
    clearQueues: (state) => takeBack(state, waiting(state), false),
    dequeueSteering: (state) => takeBack(state, state.steering, true),
    removeQueueEntry(state, { entry }) {
      const found = waiting(state).find(({ id }) => id === entry)
      return found ? takeBack(state, [found], true) : refused(state, 'queue_entry_not_found')
    },
    editQueueEntry(state, { entry, content }) {
      const text = String(content)
      const found = waiting(state).find(({ id }) => id === entry)
      if (text.trim() === '') return refused(state, 'empty_prompt')
      if (!found) return refused(state, 'queue_entry_not_found')
      const edited = listOf(state, found.queue).map((one) => (one === found ? { ...one, text } : one))
      return accepted(withList(state, found.queue, edited))
    },
    reorderQueue(state, { queue, entries }) {
      const list = listOf(state, queue)
      const inOrder = entries.map((id) => list.find((one) => one.id === id))
      const found = inOrder.filter((one) => one !== undefined)
      if (found.length < inOrder.length) return refused(state, 'queue_entry_not_found')
      if (found.length !== list.length || new Set(found).size !== list.length) return refused(state, 'bad_request')
      return found.every((one, index) => one === list[index])
        ? nothingToDo(state)
        : accepted(withList(state, queue, found))
    },
  },
}
