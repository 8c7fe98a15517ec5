import type { CallStatus } from '@holdfast/protocol'
import type { State } from './state.ts'

/** Where something stands in the tree: it grows, and nothing is ever taken out of it, so a place is a name for good. */
export type Key = number

/** What was said, or noted. The end of a turn is nobody's message; it is the place one can go back to. */
export type Said =
  | { readonly who: 'user'; readonly text: string }
  | { readonly who: 'agent'; readonly text: string; readonly isCut: boolean }
  | { readonly who: 'call'; readonly tool: string; readonly args: string; readonly status: CallStatus }
  | { readonly who: 'usage' }
  | { readonly who: 'note'; readonly kind: 'system' | 'notice'; readonly code: string | null; readonly text: string }
  | Checkpoint
  | { readonly who: 'end'; readonly reason: Ending }

/** From here on the model is told the summary, and only what stands at `from` or after it. */
export type Checkpoint = {
  readonly who: 'checkpoint'
  readonly text: string
  readonly from: Key
  readonly prompt: Key | null
  /** A program's own words for whatever the history is: they stay when another is set. */
  readonly isSet?: boolean
}

export type Ending = 'done' | 'aborted' | 'failed' | 'interrupted' | 'limit'

export type Node = {
  readonly parent: Key | null
  readonly turn: number
  /** Which answer it is part of: what one answer says and asks for belongs together. */
  readonly round: number | null
  /** Where the line stood when that answer was asked for; of everything else, where it stands itself. */
  readonly begins: Key
  readonly said: Said
  /** What the session calls it: read off once, and never to change. */
  readonly id: number | null
}

/** A way up from a leaf; what is hidden is at its beginning. */
export type Line = {
  readonly tip: Key | null
  readonly hidden: number
  /** The first message that was kept when the rest was hidden. */
  readonly cut: Key | null
  /** Whether a compaction that is hidden no longer holds: it was taken back, or another stood before it. */
  readonly isBare: boolean
  readonly turns: number
  readonly last: { readonly turn: number; readonly reason: Ending } | null
}

export const lineOf = ({ tip, hidden, cut, isBare, turns, last }: Line): Line => ({
  ...{ tip, hidden, cut, isBare },
  ...{ turns, last },
})

type Place = Pick<Node, 'turn' | 'round'> & Partial<Pick<Node, 'begins'>>

/** Says something at the tip. */
export function grow<Some extends Pick<State, 'nodes' | 'tip'>>(state: Some, said: Said, place: Place): Some {
  const node: Node = { parent: state.tip, begins: state.nodes.length, ...place, said, id: null }
  return { ...state, nodes: [...state.nodes, node], tip: state.nodes.length }
}

/** All that leads to a leaf, oldest first. */
function pathTo(nodes: readonly Node[], tip: Key | null): readonly Key[] {
  const path: Key[] = []
  for (let at = tip; at !== null; at = nodes[at]?.parent ?? null) path.push(at)
  return path.reverse()
}

/** What stands on a line, ends of turns included. */
export const allOn = (nodes: readonly Node[], { tip, hidden }: Pick<Line, 'tip' | 'hidden'>): readonly Key[] =>
  pathTo(nodes, tip).slice(hidden)

/** The messages of a line. */
export const messagesOn = (nodes: readonly Node[], line: Pick<Line, 'tip' | 'hidden'>): readonly Key[] =>
  allOn(nodes, line).filter((key) => nodes[key]?.said.who !== 'end')

/** Where the last of some turns on a line ends: one that was continued ends more than once. */
export const endOn = (state: State, turn: number | null): Key | null =>
  allOn(state.nodes, state).findLast((key) => {
    const node = state.nodes[key]
    return node?.said.who === 'end' && (turn === null || node.turn === turn)
  }) ?? null

/** How many of a line's places are hidden so that only the last messages are seen. */
export function hideAllBut({ nodes, tip }: State, messages: readonly Key[], keepLast: number): number {
  const path = pathTo(nodes, tip)
  const first = keepLast === 0 ? undefined : messages.at(-keepLast)
  return first === undefined ? path.length : path.indexOf(first)
}

export const at = ({ nodes }: Pick<State, 'nodes'>, key: Key): Node => {
  const node = nodes[key]
  if (!node) throw new Error(`nothing stands at ${key}`)
  return node
}

/** The turn a note belongs to that no turn made: the one that runs, or the last. */
export const turnNow = ({ turn, turns }: State): number => turn?.number ?? Math.max(turns - 1, 0)
