import type { Meta } from '@holdfast/protocol'

type Node = { readonly id: string; readonly parent?: string | undefined }

/** A subagent in its tree. `level` is 0 directly below the session at the top. */
export type InTree<Kind> = { readonly node: Kind; readonly level: number }

/** Returns what is below a session: each subagent before its own, in the order given. */
export function treeBelow<Kind extends Node>(top: string, nodes: readonly Kind[]): readonly InTree<Kind>[] {
  const children = Map.groupBy(nodes, ({ parent }) => parent)
  const below = (parent: string, level: number): readonly InTree<Kind>[] =>
    (children.get(parent) ?? []).flatMap((node) => [{ node, level }, ...below(node.id, level + 1)])
  return below(top, 0)
}

/** A row of the list with the subagents below it, oldest first. */
export type SessionGroup = { readonly meta: Meta; readonly below: readonly InTree<Meta>[] }

/** Puts subagents under their sessions. One whose parent is not listed stays in the list. */
export function groupSessions(sessions: readonly Meta[]): readonly SessionGroup[] {
  const listed = new Set(sessions.map(({ id }) => id))
  const isBelow = ({ subagent, parent }: Meta) => subagent !== undefined && parent !== undefined && listed.has(parent)
  const subagents = sessions.filter(isBelow).sort((one, other) => (one.id < other.id ? -1 : 1)) // ids are ordered by time
  return sessions.flatMap((meta) => (isBelow(meta) ? [] : [{ meta, below: treeBelow(meta.id, subagents) }]))
}
