import { escapeLine, type Meta } from '@holdfast/protocol'

/** A parent or a fork. */
export type RelatedSession = { readonly id: string; readonly title: string }

export type RelatedSessions = { readonly parent: RelatedSession | null; readonly forks: readonly RelatedSession[] }

/** Returns the title shown for a session. On a line without a prompt it has none of its own. */
export const titleOf = ({ title, branchCount }: Pick<Meta, 'title' | 'branchCount'>): string =>
  escapeLine(title) || (branchCount > 0 ? 'Rewound to the start' : 'New session')

/** Finds the parent and forks of a session in the list. */
export const findRelated = (meta: Pick<Meta, 'id' | 'parent'>, listed: readonly Meta[]): RelatedSessions => ({
  parent: parentOf(meta, listed),
  forks: listed.flatMap((one) =>
    one.parent === meta.id && !one.subagent ? [{ id: one.id, title: titleOf(one) }] : [],
  ),
})

export function parentOf({ parent }: Pick<Meta, 'parent'>, listed: readonly Meta[]): RelatedSession | null {
  if (parent === undefined) return null
  const found = listed.find(({ id }) => id === parent)
  return { id: parent, title: found ? titleOf(found) : 'another session' } // not loaded, or deleted
}
