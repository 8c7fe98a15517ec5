import { escapeLine, type Meta } from '@holdfast/protocol'

/** A session that another came from, or that came from it. */
export type Relative = { readonly id: string; readonly title: string }

export type Kin = { readonly parent: Relative | null; readonly forks: readonly Relative[] }

/** What a session is called on screen. */
export const titleOf = ({ title, handle }: Pick<Meta, 'title' | 'handle'>): string => escapeLine(title) || handle

/** Where a session came from, and what came from it, as far as the list knows. */
export const kinOf = (meta: Pick<Meta, 'id' | 'parent'>, listed: readonly Meta[]): Kin => ({
  parent: parentOf(meta, listed),
  forks: listed.flatMap((one) => (one.parent === meta.id ? [{ id: one.id, title: titleOf(one) }] : [])),
})

export function parentOf({ parent }: Pick<Meta, 'parent'>, listed: readonly Meta[]): Relative | null {
  if (parent === undefined) return null
  const found = listed.find(({ id }) => id === parent)
  return { id: parent, title: found ? titleOf(found) : 'another session' } // it may be further down, or gone
}
