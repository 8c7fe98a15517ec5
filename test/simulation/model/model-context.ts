import type { ModelContext, State } from './state.ts'
import { at, type Checkpoint, type Key, type Line, messagesOn } from './tree.ts'

/** What a model must be told of the line, in the plainest words; how it is written down is another matter. */

export const emptyContext: ModelContext = { by: '', summary: '', pinned: [], prompt: null, messages: [] }

/** The model that answers now. */
export const answering = ({ turn, model }: State): string => turn?.fallback ?? model

type Spoken = 'user' | 'agent' | 'call'
const spoken: readonly string[] = ['user', 'agent', 'call'] satisfies Spoken[]

/** What the model hears of: not what is for people. */
export const isInContext = (state: State, key: Key): boolean => spoken.includes(at(state, key).said.who)

/** The compaction that holds: the newest on the way that nobody took back, even where the way is hidden. */
export function activeCheckpoint(
  state: State,
  { tip, hidden, isBare }: Pick<Line, 'tip' | 'hidden' | 'isBare'> = state,
): { readonly key: Key; readonly said: Checkpoint } | null {
  const way = messagesOn(state.nodes, { tip, hidden: isBare ? hidden : 0 }).toReversed()
  for (const key of way) {
    const { said } = at(state, key)
    if (said.who === 'checkpoint' && !state.undone.includes(key)) return { key, said }
  }
  return null
}

/** A line may be cut in an answer, or just before it: what was asked for by what is hidden is not told. */
export function currentContext(state: State): ModelContext {
  const line = messagesOn(state.nodes, state)
  const { from, text, prompt } = activeCheckpoint(state)?.said ?? { from: 0, text: '', prompt: null }
  const first = line[0] ?? 0
  const start = Math.max(from, first)
  const kept = line.filter((key) => key >= start && isInContext(state, key))
  const begin = kept.findIndex((key) => at(state, key).begins >= (state.cut ?? 0))
  return {
    by: `${answering(state)} ${state.thinkingLevel}`,
    summary: text,
    pinned: state.pins.filter((key) => key < start && line.includes(key)),
    prompt: prompt !== null && line.includes(prompt) ? prompt : null,
    messages: begin === -1 ? [] : kept.slice(begin),
  }
}

const keptMessages = 6

/** Where a compaction cuts: the last messages stay, and an answer that reaches into them stays whole. Null: nothing to cut. */
export function compactionCut(state: State, { messages }: ModelContext): Key | null {
  let index = Math.max(messages.length - keptMessages, 0)
  const roundAt = (place: number) => {
    const key = messages[place]
    return key === undefined ? null : at(state, key).round
  }
  while (index > 0 && roundAt(index) !== null && roundAt(index) === roundAt(index - 1)) index--
  return index === 0 ? null : (messages[index] ?? null)
}
