import { type KeyboardEvent, type ReactNode, type ToggleEvent, useId } from 'react'

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

/** Whether a menu or a dialog is open, which then handles the keys. */
export const isMenuOpen = (): boolean => document.querySelector('[popover]:popover-open, dialog[open]') !== null

/** Moves the focus in a panel with the arrow keys. */
export function onArrows(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (step === 0) return
  const choices = [...event.currentTarget.querySelectorAll<HTMLElement>('button:enabled, a[href]')]
  if (choices.length === 0) return
  event.preventDefault()
  const from = choices.findIndex((choice) => choice.matches(':focus'))
  const next = from < 0 ? (step > 0 ? 0 : choices.length - 1) : (from + step + choices.length) % choices.length
  choices[next]?.focus()
}
