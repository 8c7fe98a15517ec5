import type { CallId, EventOf, SessionId } from '@holdfast/protocol'

/** A subagent whose result is not delivered yet. */
export type OpenChild = {
  readonly session: SessionId
  readonly call: CallId
  readonly agent: string
  /** Whether its call does not wait for it. */
  readonly isBackground: boolean
}

type Children = { readonly children: readonly OpenChild[] }

/** Adds a subagent that is about to start. */
export const withChild = (
  { children }: Children,
  { child: session, call, agent, background }: EventOf<'child.started'>,
): readonly OpenChild[] => [...children, { session, call, agent, isBackground: background ?? false }]

/** Removes the subagent that a settled call has waited for. */
export const withoutChildOf = ({ children }: Children, call: CallId): readonly OpenChild[] =>
  children.filter((one) => one.isBackground || one.call !== call)

/** Returns the subagent that an open call waits for. */
export const childOf = ({ children }: Children, call: CallId): OpenChild | undefined =>
  children.find((one) => one.call === call && !one.isBackground)
