import { Popover as Base } from '@base-ui/react/popover'
import type { KeyboardEvent, ReactElement, ReactNode } from 'react'

type PopoverProps = {
  /** The button that opens it. */
  readonly trigger: ReactElement
  /** The name of the panel, and its heading. */
  readonly title: string
  /** The heading is for screen readers only. */
  readonly isTitleHidden?: boolean
  readonly isOpen?: boolean
  readonly onOpen?: (isOpen: boolean) => void
  readonly className?: string
  readonly side?: 'top' | 'bottom'
  readonly align?: 'start' | 'center' | 'end'
  readonly children: ReactNode
}

/**
 * A panel that a button opens. Arrow keys move in it. Escape, and a press beside it, close it; the focus then goes back to
 * the button.
 */
export function Popover(props: PopoverProps) {
  const { trigger, title, isTitleHidden = false, isOpen, onOpen, className = '', children } = props
  const { side = 'bottom', align = 'end' } = props
  return (
    <Base.Root {...(isOpen !== undefined && { open: isOpen })} onOpenChange={(open) => onOpen?.(open)}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="positioner" side={side} align={align} sideOffset={4} collisionPadding={8}>
          <Base.Popup className={`popup popover ${className}`} onKeyDown={onArrows}>
            <Base.Title className={isTitleHidden ? 'hidden-text' : undefined}>{title}</Base.Title>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

type HeaderMenuProps = {
  /** The text of the button. */
  readonly label: ReactNode
  readonly title: string
  readonly isOpen?: boolean
  readonly onOpen?: (isOpen: boolean) => void
  readonly children: ReactNode
}

/** A panel that opens from a header button. */
export const HeaderMenu = ({ label, title, isOpen, onOpen, children }: HeaderMenuProps) => (
  <Popover
    trigger={
      <button type="button" className="quiet header-menu-button">
        {label}
      </button>
    }
    title={title}
    className="header-menu"
    {...(isOpen !== undefined && { isOpen })}
    {...(onOpen && { onOpen })}
  >
    {children}
  </Popover>
)

/** Moves the focus in a panel with the arrow keys, but not inside a field. */
function onArrows(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (step === 0 || (event.target instanceof HTMLElement && event.target.matches('input, textarea'))) return
  const choices = [...event.currentTarget.querySelectorAll<HTMLElement>('button:enabled, a[href]')]
  if (choices.length === 0) return
  event.preventDefault()
  const from = choices.findIndex((choice) => choice.matches(':focus'))
  const next = from < 0 ? (step > 0 ? 0 : choices.length - 1) : (from + step + choices.length) % choices.length
  choices[next]?.focus()
}
