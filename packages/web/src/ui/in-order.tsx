import { Fragment, type ReactNode } from 'react'

/** Draws items without keys of their own. Items are only appended, so the index is a stable key. */
export const inOrder = <Item,>(items: readonly Item[], draw: (item: Item) => ReactNode): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: see above
  items.map((item, index) => <Fragment key={index}>{draw(item)}</Fragment>)
