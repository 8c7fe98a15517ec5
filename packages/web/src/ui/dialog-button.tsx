import { type ReactNode, useState } from 'react'

type DialogButtonProps = {
  readonly className?: string | undefined
  readonly label?: string | undefined
  readonly children: ReactNode
  /** Returns the dialog. It calls `close` when it is closed. */
  readonly dialog: (close: () => void) => ReactNode
}

/** A button that opens a dialog, and has the focus again once the dialog is closed. */
export function DialogButton({ className, label, children, dialog }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className={className} aria-label={label} onClick={() => setOpen(true)}>
        {children}
      </button>
      {isOpen && dialog(() => setOpen(false))}
    </>
  )
}
