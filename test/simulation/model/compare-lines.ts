import type { Message } from '@holdfast/protocol'
import { isFolded } from './family/marks.ts'
import { isInContext } from './model-context.ts'
import type { ReadLine, ReadLines } from './real/read-lines.ts'
import type { State } from './state.ts'
import { at, type Key, type Line, messagesOn } from './tree.ts'

type Pairs = Record<string, readonly [is: unknown, must: unknown]>

/** Returns the expected messages of a line. */
export function expectedMessages(
  state: State,
  line: Pick<Line, 'tip' | 'hidden'>,
  last = Infinity,
): readonly unknown[] {
  const keys = messagesOn(state.nodes, line)
  const shown = keys.map((key, index) => {
    const { said, turn, id } = at(state, key)
    const before = keys[index - 1]
    const parent = before === undefined ? null : at(state, before).id
    const marks = { pinned: state.pins.includes(key), collapsed: said.who === 'call' && isFolded(state, key) }
    if (said.who !== 'checkpoint') return { id, parent, turn, ...marks, ...said }
    return { id, parent, turn, ...marks, who: 'note', kind: 'notice', code: 'compacted', text: said.text }
  })
  return shown.slice(-last || shown.length)
}

export function shownMessage(message: Message): unknown {
  const { id, parent, turn, pinned, collapsed } = message
  return { id, parent, turn, pinned, collapsed, ...saidOf(message) }
}

function saidOf(message: Message): object {
  switch (message.kind) {
    case 'user':
      return { who: 'user', text: message.text }
    case 'assistant':
      return { who: 'agent', text: message.text, isCut: message.interrupted ?? false }
    case 'tool_call': {
      const { tool, args, status } = message.call
      return { who: 'call', tool, args: JSON.stringify(args), status }
    }
    case 'usage':
      return { who: 'usage' }
    case 'system':
      return { who: 'note', kind: 'system', code: null, text: message.text }
    case 'notice':
      return { who: 'note', kind: 'notice', code: message.code ?? null, text: message.text }
    default:
      return { who: message.kind }
  }
}

/** Compares all lines, read in both directions. */
export function linePairs(state: State, { present, branches, kept }: ReadLines): Pairs {
  const here = messagesOn(state.nodes, state)
  const listed = state.branches.map((branch) => {
    const messages = messagesOn(state.nodes, branch)
    const differs = messages.find((key) => !here.includes(key))
    const { name, turns } = branch
    const counted = messages.filter((key) => isInContext(state, key)).length
    return { name, turns, messages: counted, differsAt: differs === undefined ? null : at(state, differs).id }
  })
  return {
    branches: [branches.map(({ name, turns, messages, differsAt }) => ({ name, turns, messages, differsAt })), listed],
    ...bothWays('the line', present, expectedMessages(state, state)),
    ...Object.assign(
      {},
      ...state.branches.map((branch, index) =>
        bothWays(branch.name, kept[index] ?? { backwards: [], forwards: [] }, expectedMessages(state, branch)),
      ),
    ),
  }
}

const bothWays = (name: string, { backwards, forwards }: ReadLine, must: readonly unknown[]): Pairs => ({
  [`${name}, backwards`]: [backwards.map(shownMessage), must],
  [`${name}, forwards`]: [forwards.map(shownMessage), must],
})

/** Takes over the message ids of the session. An id must never change. */
export function withMessageIds(state: State, line: Pick<Line, 'tip' | 'hidden'>, messages: readonly Message[]): State {
  const keys = messagesOn(state.nodes, line).slice(-messages.length || Infinity)
  const names = new Map<Key, number>()
  for (const [index, key] of keys.entries()) {
    const shown = messages[index]
    if (shown && at(state, key).id === null) names.set(key, shown.id)
  }
  if (names.size === 0) return state
  return { ...state, nodes: state.nodes.map((node, key) => ({ ...node, id: node.id ?? names.get(key) ?? null })) }
}

/** Returns duplicate ids. */
export function duplicateIds({ nodes }: State): readonly number[] {
  const seen = new Set<number>()
  return nodes.flatMap(({ id }) => {
    if (id === null) return []
    if (seen.has(id)) return [id]
    seen.add(id)
    return []
  })
}
