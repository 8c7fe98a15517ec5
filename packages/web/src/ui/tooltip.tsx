import { Tooltip as Base } from '@base-ui/react/tooltip'
import { type ReactElement, useState } from 'react'

type TooltipProps = {
  readonly text: string
  /** The key that does the same. */
  readonly keys?: string
  readonly side?: 'top' | 'bottom' | 'left' | 'right'
  /** The element it explains. It has an accessible name of its own: a tooltip is not for touch. */
  readonly children: ReactElement
}

/** A short explanation that shows on hover and focus. Escape hides it, and still does whatever else Escape does. */
export function Tooltip({ text, keys, side = 'top', children }: TooltipProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Base.Root
      open={isOpen}
      onOpenChange={(open, details) => {
        setOpen(open)
        if (details.reason !== 'escape-key') return
        details.allowPropagation()
        details.cancel()
      }}
    >
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner className="positioner" side={side} sideOffset={6} collisionPadding={8}>
          <Base.Popup className="tooltip">
            {text}
            {keys !== undefined && <kbd>{keys}</kbd>}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
