import { type ReactNode, useId } from 'react'

type HeaderMenuProps = {
  /** What the button shows, and what it opens is called. */
  readonly label: string
  readonly title: string
  readonly children: ReactNode
}

/** A panel behind a button of the header. The browser opens it, closes it at a click elsewhere or Esc, and keeps the focus. */
export function HeaderMenu({ label, title, children }: HeaderMenuProps) {
  const id = useId()
  return (
    <>
      <button type="button" className="quiet header-menu-button" popoverTarget={id}>
        {label}
      </button>
      <section id={id} className="header-menu" popover="auto" aria-label={title}>
        <h2>{title}</h2>
        {children}
      </section>
    </>
  )
}

/** Whether a key belongs to an open panel rather than to the session. */
export const isMenuOpen = (): boolean => document.querySelector('.header-menu:popover-open') !== null
