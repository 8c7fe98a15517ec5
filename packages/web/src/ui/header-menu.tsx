import { type ReactNode, type ToggleEvent, useId } from 'react'
import { onArrows } from './on-arrows.ts'

type HeaderMenuProps = {
  /** The text of the button, and the name of the panel. */
  readonly label: ReactNode
  readonly title: string
  readonly onOpen?: (isOpen: boolean) => void
  readonly children: ReactNode
}

/** A panel that opens from a header button. It is a native popover. */
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

/** Whether a panel is open, which then handles the keys. */
export const isMenuOpen = (): boolean => document.querySelector('[popover]:popover-open') !== null
