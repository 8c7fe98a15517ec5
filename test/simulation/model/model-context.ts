import type { ModelContext, State } from './state.ts'
import { at, type Checkpoint, type Key, type Line, messagesOn } from './tree.ts'

// Computes which messages of the line a model must receive, without their format.

export const emptyContext: ModelContext = { by: '', summary: '', pinned: [], prompt: null, messages: [] }

/** Returns the model that answers now. */
export const answering = ({ turn, model }: State): string => turn?.fallback ?? model

type Spoken = 'user' | 'agent' | 'call'
const spoken: readonly string[] = ['user', 'agent', 'call'] satisfies Spoken[]

/** Returns whether the model receives a message. Notes are only for people. */
export const isInContext = (state: State, key: Key): boolean => spoken.includes(at(state, key).said.who)

/** Returns the active checkpoint: the newest of the line that was not undone, hidden or not. */
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

/** Returns the model's context. A line may be truncated inside a round: results of hidden calls are not sent. */
export function currentContext(state: State): ModelContext {
  const line = messagesOn(state.nodes, state)
  const { from, text, prompt } = activeCheckpoint(state)?.said ?? { from: 0, text: '', prompt: null }
  const first = line[0] ?? 0
  const start = Math.max(from, first)
  const sent = line.filter((key) => key >= start && isInContext(state, key))
  const begin = sent.findIndex((key) => at(state, key).begins >= (state.cut ?? 0))
  return {
    by: `${answering(state)} ${state.thinkingLevel}`,
    summary: text,
    pinned: state.pins.filter((key) => key < start && line.includes(key)),
    prompt: prompt !== null && line.includes(prompt) ? prompt : null,
    messages: begin === -1 ? [] : sent.slice(begin),
  }
}

const keptMessages = 6

/** Returns where a compaction cuts: the last messages stay, with their whole round. Null if there is nothing to cut. */
export function compactionCut(state: State, { messages }: ModelContext): Key | null {
  let index = Math.max(messages.length - keptMessages, 0)
  const roundAt = (index: number) => {
    const key = messages[index]
    return key === undefined ? null : at(state, key).round
  }
  while (index > 0 && roundAt(index) !== null && roundAt(index) === roundAt(index - 1)) index--
  return index === 0 ? null : (messages[index] ?? null)
}
