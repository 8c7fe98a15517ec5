import type { CallId, EventOf, SessionId } from '@holdfast/protocol'
import type { Call, Turn } from './state.ts'

/** A subagent whose result is not delivered yet. */
export type OpenChild = {
  readonly session: SessionId
  readonly call: CallId
  readonly agent: string
  /** Whether its call does not wait for it. */
  readonly isBackground: boolean
}

type Children = { readonly children: readonly OpenChild[] }

/** Adds a subagent that is about to start, and marks its call: a call starts at most one. */
export function withChild(
  { children, turn }: Children & { readonly turn: Turn },
  { child: session, call, agent, background }: EventOf<'child.started'>,
): { readonly children: readonly OpenChild[]; readonly turn: Turn } {
  const added = { session, call, agent, isBackground: background ?? false }
  if (turn.phase !== 'acting') return { children: [...children, added], turn }
  const mark = (one: Call): Call => (one.id === call && one.status === 'started' ? { ...one, hasChild: true } : one)
  return { children: [...children, added], turn: { ...turn, calls: turn.calls.map(mark) } }
}

/** Removes the subagent that a settled call has waited for. */
export const withoutChildOf = ({ children }: Children, call: CallId): readonly OpenChild[] =>
  children.filter((one) => one.isBackground || one.call !== call)

/** Returns the subagent that an open call waits for. */
export const childOf = ({ children }: Children, call: CallId): OpenChild | undefined =>
  children.find((one) => one.call === call && !one.isBackground)
