import type { CallStatus } from '@holdfast/protocol'
import type { State } from './state.ts'

/** The index of a node in the tree. Nodes are never removed, so a key stays valid. */
export type Key = number

/** The content of a node: a message, a note, or the end of a turn, to which a session can go back. */
export type Said =
  | { readonly who: 'user'; readonly text: string }
  | { readonly who: 'agent'; readonly text: string; readonly isCut: boolean }
  | { readonly who: 'call'; readonly tool: string; readonly args: string; readonly status: CallStatus }
  | { readonly who: 'usage' }
  | { readonly who: 'note'; readonly kind: 'system' | 'notice'; readonly code: string | null; readonly text: string }
  | Checkpoint
  | { readonly who: 'end'; readonly reason: Ending }

/** A checkpoint: the model receives the summary and the messages from `from`. */
export type Checkpoint = {
  readonly who: 'checkpoint'
  readonly text: string
  readonly from: Key
  readonly prompt: Key | null
  /** A summary prompt set by a program, which stays when the history is replaced. */
  readonly isSet?: boolean
}

export type Ending = 'done' | 'aborted' | 'failed' | 'interrupted' | 'limit'

export type Node = {
  readonly parent: Key | null
  readonly turn: number
  /** The round it belongs to: the text and calls of one answer. */
  readonly round: number | null
  /** The tip of the line when that answer was requested; for other nodes, their own key. */
  readonly begins: Key
  readonly said: Said
  /** Its id in the session, which never changes. */
  readonly id: number | null
}

/** A line: the path from the root to a leaf. Its first nodes may be hidden. */
export type Line = {
  readonly tip: Key | null
  readonly hidden: number
  /** The first message that is not hidden. */
  readonly cut: Key | null
  /** Whether a hidden checkpoint is no longer active: it was undone or replaced. */
  readonly isBare: boolean
  readonly turns: number
  readonly last: { readonly turn: number; readonly reason: Ending } | null
}

export const lineOf = ({ tip, hidden, cut, isBare, turns, last }: Line): Line => ({
  tip,
  hidden,
  cut,
  isBare,
  turns,
  last,
})

type Place = Pick<Node, 'turn' | 'round'> & Partial<Pick<Node, 'begins'>>

/** Adds a node at the tip. */
export function grow<Some extends Pick<State, 'nodes' | 'tip'>>(state: Some, said: Said, place: Place): Some {
  const node: Node = { parent: state.tip, begins: state.nodes.length, ...place, said, id: null }
  return { ...state, nodes: [...state.nodes, node], tip: state.nodes.length }
}

/** Returns the path to a leaf, oldest first. */
function pathTo(nodes: readonly Node[], tip: Key | null): readonly Key[] {
  const path: Key[] = []
  for (let at = tip; at !== null; at = nodes[at]?.parent ?? null) path.push(at)
  return path.reverse()
}

/** Returns the visible nodes of a line, including ends of turns. */
export const allOn = (nodes: readonly Node[], { tip, hidden }: Pick<Line, 'tip' | 'hidden'>): readonly Key[] =>
  pathTo(nodes, tip).slice(hidden)

/** Returns the visible messages of a line. */
export const messagesOn = (nodes: readonly Node[], line: Pick<Line, 'tip' | 'hidden'>): readonly Key[] =>
  allOn(nodes, line).filter((key) => nodes[key]?.said.who !== 'end')

/** Returns the last end of a turn on a line. A continued turn has several ends. */
export const endOn = (state: State, turn: number | null): Key | null =>
  allOn(state.nodes, state).findLast((key) => {
    const node = state.nodes[key]
    return node?.said.who === 'end' && (turn === null || node.turn === turn)
  }) ?? null

/** Returns the number of nodes to hide so that only the last messages are visible. */
export function hideAllBut({ nodes, tip }: State, messages: readonly Key[], keepLast: number): number {
  const path = pathTo(nodes, tip)
  const first = keepLast === 0 ? undefined : messages.at(-keepLast)
  return first === undefined ? path.length : path.indexOf(first)
}

export const at = ({ nodes }: Pick<State, 'nodes'>, key: Key): Node => {
  const node = nodes[key]
  if (!node) throw new Error(`there is no node ${key}`)
  return node
}

/** Returns the turn of a note that was added outside a turn: the running or the last one. */
export const turnNow = ({ turn, turns }: State): number => turn?.number ?? Math.max(turns - 1, 0)
