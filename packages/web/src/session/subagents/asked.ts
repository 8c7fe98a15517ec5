import type { ChildView, PendingApproval, SessionId } from '@holdfast/protocol'
import { treeBelow } from '../../list/session-tree.ts'

/** An approval that waits for an answer; `child` is the subagent that asks, null for the session itself. */
export type Asked = { readonly approval: PendingApproval; readonly child: ChildView | null }

/** Returns all approvals of a tree: those of the session first, then those of its subagents, oldest first. */
export const askedOf = (own: readonly PendingApproval[], children: readonly ChildView[]): readonly Asked[] => [
  ...own.map((approval) => ({ approval, child: null })),
  ...children.flatMap((child) => child.pendingApprovals.map((approval) => ({ approval, child }))),
]

/** An approval has a number of its own only within its session. */
export const askedKey = ({ approval, child }: Asked): string => `${child?.id ?? ''} ${approval.id}`

/** Splits the approvals into those of a subagent and of all below it, and the others. Without a subagent all are others. */
export function splitAsked(asked: readonly Asked[], children: readonly ChildView[], opened: SessionId | null) {
  const within = new Set<string>(
    opened === null ? [] : [opened, ...treeBelow(opened, children).map(({ node }) => node.id)],
  )
  const isInside = ({ child }: Asked) => child !== null && within.has(child.id)
  return { inside: asked.filter(isInside), outside: asked.filter((one) => !isInside(one)) }
}

/** Joins the stored subagents with those that the stream shows, which are newer. Oldest first. */
export function joinChildren(stored: readonly ChildView[], shown: readonly ChildView[]): readonly ChildView[] {
  if (stored.length === 0) return shown
  const all = new Map([...stored, ...shown].map((child) => [child.id, child]))
  return [...all.values()].sort((one, other) => (one.id < other.id ? -1 : 1)) // ids are ordered by time
}
