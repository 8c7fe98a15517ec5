import { Fragment, type ReactNode } from 'react'

/** Draws things that have no name of their own. They are only ever appended to, so a place is as good as a name. */
export const inOrder = <Item,>(items: readonly Item[], draw: (item: Item) => ReactNode): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: see above
  items.map((item, place) => <Fragment key={place}>{draw(item)}</Fragment>)
