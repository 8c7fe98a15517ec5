import { ContextMenu as BaseContext } from '@base-ui/react/context-menu'
import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'

type MenuProps = {
  /** The button that opens it. */
  readonly trigger: ReactElement
  /** The name of the menu. */
  readonly label: string
  readonly onOpen?: (isOpen: boolean) => void
  /** Whether it is open. Without it, the menu knows it alone. */
  readonly isOpen?: boolean
  readonly className?: string
  readonly side?: 'top' | 'bottom'
  readonly align?: 'start' | 'center' | 'end'
  /** Menu items. They are drawn while the menu is open. */
  readonly children: ReactNode
}

/** A menu of actions. Arrow keys and letters move in it, Enter chooses, Escape closes it. */
export function Menu({ trigger, label, isOpen, onOpen, className, side, align = 'start', children }: MenuProps) {
  return (
    <Base.Root {...(isOpen !== undefined && { open: isOpen })} onOpenChange={(open) => onOpen?.(open)}>
      <Base.Trigger render={trigger} />
      <MenuPanel label={label} className={className} side={side} align={align}>
        {children}
      </MenuPanel>
    </Base.Root>
  )
}

type ContextMenuProps = {
  /** The element that has the menu. A right click, a long press or the menu key opens it. */
  readonly target: ReactElement
  readonly label: string
  readonly onOpen?: (isOpen: boolean) => void
  readonly children: ReactNode
}

/** The menu of an element, opened where the pointer is. It takes the same items as `Menu`. */
export const ContextMenu = ({ target, label, onOpen, children }: ContextMenuProps) => (
  <BaseContext.Root onOpenChange={(open) => onOpen?.(open)}>
    <BaseContext.Trigger render={target} />
    <MenuPanel label={label}>{children}</MenuPanel>
  </BaseContext.Root>
)

type MenuPanelProps = {
  readonly label: string
  readonly className?: string | undefined
  readonly side?: 'top' | 'bottom' | undefined
  readonly align?: 'start' | 'center' | 'end' | undefined
  readonly children: ReactNode
}

const MenuPanel = ({ label, className = '', side, align, children }: MenuPanelProps) => (
  <Base.Portal>
    <Base.Positioner className="positioner" side={side} align={align} sideOffset={4} collisionPadding={8}>
      <Base.Popup className={`popup menu ${className}`} aria-label={label}>
        {children}
      </Base.Popup>
    </Base.Positioner>
  </Base.Portal>
)

type MenuItemProps = {
  readonly name: string
  /** A sentence below the name. */
  readonly text?: string
  /** Why it cannot be chosen, or null. */
  readonly hold?: string | null
  /** The key that does the same, such as `Ctrl+K`. */
  readonly keys?: string
  /** It destroys something. */
  readonly isDanger?: boolean
  readonly onChoose: () => void
}

/** An action of a menu. One that cannot be chosen says why. */
export const MenuItem = ({ name, text, hold = null, keys, isDanger = false, onChoose }: MenuItemProps) => (
  <Base.Item
    className={isDanger ? 'menu-item danger' : 'menu-item'}
    label={name}
    disabled={hold !== null}
    title={hold ?? undefined}
    aria-keyshortcuts={keys}
    onClick={onChoose}
  >
    <span className="menu-name">{name}</span>
    {keys !== undefined && <kbd>{keys}</kbd>}
    {(hold ?? text) !== undefined && <span className="menu-text">{hold ?? text}</span>}
  </Base.Item>
)

type MenuLinkProps = { readonly href: string; readonly name: string; readonly download?: string }

/** A link in a menu. */
export const MenuLink = ({ href, name, download }: MenuLinkProps) => (
  <Base.LinkItem className="menu-item" href={href} download={download} closeOnClick>
    <span className="menu-name">{name}</span>
  </Base.LinkItem>
)

type MenuChoiceProps = {
  readonly label: string
  readonly value: string
  readonly choices: readonly { readonly value: string; readonly name: string; readonly text?: string }[]
  readonly onChoose: (value: string) => void
}

/** Shows choices; exactly one is on. */
export const MenuChoices = ({ label, value, choices, onChoose }: MenuChoiceProps) => (
  <Base.RadioGroup value={value} onValueChange={(next: string) => onChoose(next)}>
    <Base.GroupLabel className="menu-label">{label}</Base.GroupLabel>
    {choices.map((choice) => (
      <Base.RadioItem key={choice.value} className="menu-item" value={choice.value} label={choice.name} closeOnClick>
        <span className="menu-name">{choice.name}</span>
        <Base.RadioItemIndicator className="menu-check">✓</Base.RadioItemIndicator>
        {choice.text !== undefined && <span className="menu-text">{choice.text}</span>}
      </Base.RadioItem>
    ))}
  </Base.RadioGroup>
)

/** A menu inside a menu. */
export const Submenu = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <Base.SubmenuRoot>
    <Base.SubmenuTrigger className="menu-item" label={name}>
      <span className="menu-name">{name}</span>
      <span aria-hidden="true">›</span>
    </Base.SubmenuTrigger>
    <MenuPanel label={name}>{children}</MenuPanel>
  </Base.SubmenuRoot>
)

/** A heading above items. */
export const MenuLabel = ({ children }: { readonly children: ReactNode }) => (
  <p className="menu-label" role="presentation">
    {children}
  </p>
)

export const MenuSeparator = () => <Base.Separator className="menu-line" />
