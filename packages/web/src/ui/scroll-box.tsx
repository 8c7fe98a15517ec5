import type { ComponentProps } from 'react'

type ScrollBoxProps = Omit<ComponentProps<'div'>, 'role' | 'tabIndex'> & {
  /** What it holds, for people who reach it by keyboard. */
  readonly 'aria-label': string
}

/**
 * A box that scrolls inside a text: reachable by keyboard, and with a name. It is no landmark, since a transcript has
 * hundreds. Scrolling in it does not stop the transcript from following its end.
 */
export const ScrollBox = (props: ScrollBoxProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
  <div {...props} role="group" tabIndex={0} data-scrollable />
)
