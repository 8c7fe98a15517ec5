import { type ReactNode, type ToggleEvent, useId } from 'react'
import { onArrows } from './on-arrows.ts'

type HeaderMenuProps = {
  /** What the button shows, and what it opens is called. */
  readonly label: ReactNode
  readonly title: string
  readonly onOpen?: (isOpen: boolean) => void
  readonly children: ReactNode
}

/** A panel behind a button of the header. The browser opens it, closes it at a click elsewhere or Esc, and keeps the focus. */
export function HeaderMenu({ label, title, onOpen, children }: HeaderMenuProps) {
  const id = useId()
  const onToggle = (event: ToggleEvent) => onOpen?.(event.newState === 'open')
  return (
    <>
      <button type="button" className="quiet header-menu-button" popoverTarget={id}>
        {label}
      </button>
      <section
        id={id}
        className="header-menu"
        popover="auto"
        aria-label={title}
        onToggle={onToggle}
        onKeyDown={onArrows}
      >
        <h2>{title}</h2>
        {children}
      </section>
    </>
  )
}

/** Whether a key belongs to an open panel rather than to the session. */
export const isMenuOpen = (): boolean => document.querySelector('[popover]:popover-open') !== null
