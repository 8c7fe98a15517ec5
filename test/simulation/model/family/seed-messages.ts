import { contentText, type SeedMessage } from '@holdfast/protocol'
import type { State } from '../state.ts'
import { grow, type Key, type Said } from '../tree.ts'
import { addUserMessage, beginTurn, endTurn } from '../turn-progress.ts'

/** Messages to seed. The last list is invalid. */
export const seeds = {
  'a word': [{ role: 'user', content: 'seed' }],
  'a turn': [
    { role: 'user', content: 'seed' },
    { role: 'assistant', content: 'seeded' },
  ],
  'an answer': [{ role: 'assistant', content: 'seeded' }],
  calls: [
    { role: 'system', content: 'seen by people' },
    { role: 'user', content: 'seed' },
    {
      role: 'assistant',
      content: 'let me see',
      toolCalls: [
        { id: 'one', tool: 'look', args: { n: 7 } },
        { id: 'two', tool: 'gone', args: {} },
        { id: 'three', tool: 'touch', args: {} },
      ],
    },
    { role: 'tool', toolCallId: 'two', content: 'no', isError: true },
    { role: 'tool', toolCallId: 'one', content: 'yes' },
    { role: 'assistant', content: 'seen' },
    { role: 'user', content: 'more' },
  ],
  'a note': [{ role: 'system', content: 'seen by people' }],
  'no transcript': [
    { role: 'user', content: 'seed' },
    { role: 'tool', toolCallId: 'one', content: 'of nothing' },
  ],
} as const satisfies Record<string, readonly SeedMessage[]>

type Sowing = { readonly state: State; readonly open: ReadonlyMap<string, Key> }

/** Adds an imported transcript. Each user message starts a turn. Returns null if it is invalid. */
export function withSeedMessages(state: State, messages: readonly SeedMessage[]): State | null {
  let now: Sowing = { state, open: new Map() }
  for (const message of messages) {
    const next = sow(now, message)
    if (!next) return null
    now = next
  }
  const closed = closeCalls(now)
  return closed.turn ? endTurn(closed, 'done') : closed
}

function sow({ state, open }: Sowing, message: SeedMessage): Sowing | null {
  if (message.role === 'tool') {
    const key = open.get(message.toolCallId)
    if (key === undefined) return null
    const left = new Map([...open].filter(([, one]) => one !== key))
    return { state: withStatus(state, key, message.isError ? 'error' : 'complete'), open: left }
  }
  const closed = closeCalls({ state, open })
  const nothing = new Map<string, Key>()
  if (message.role === 'system') {
    const note: Said = { who: 'note', kind: 'system', code: null, text: message.content }
    return { state: grow(closed, note, { turn: closed.turn?.number ?? closed.turns, round: null }), open: nothing }
  }
  if (message.role === 'user') {
    const rested = closed.turn ? endTurn(closed, 'done') : closed
    return {
      state: addUserMessage(
        beginTurn(rested),
        typeof message.content === 'string' ? message.content : contentText(message.content),
      ),
      open: nothing,
    }
  }
  return answer(closed.turn ? closed : beginTurn(closed), message)
}

/** Adds an imported answer as a round of its own. */
function answer(state: State, { content, toolCalls = [] }: Extract<SeedMessage, { role: 'assistant' }>): Sowing {
  const begins = state.nodes.length
  const place = { turn: state.turn?.number ?? 0, round: -1 - begins, begins }
  const calls = new Map<string, Key>()
  let now = content === '' ? state : grow(state, { who: 'agent', text: content, isCut: false }, place)
  for (const { id, tool, args } of toolCalls) {
    calls.set(id, now.nodes.length)
    now = grow(now, { who: 'call', tool, args: JSON.stringify(args), status: 'waiting' }, place)
  }
  return { state: now, open: calls }
}

const closeCalls = ({ state, open }: Sowing): State =>
  [...open.values()].reduce((now, key) => withStatus(now, key, 'interrupted'), state)

const withStatus = (state: State, key: Key, status: 'complete' | 'error' | 'interrupted'): State => ({
  ...state,
  nodes: state.nodes.map((node, place) =>
    place === key && node.said.who === 'call' ? { ...node, said: { ...node.said, status } } : node,
  ),
})
