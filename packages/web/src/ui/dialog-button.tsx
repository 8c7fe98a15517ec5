import { type ReactNode, useRef, useState } from 'react'
import { focusIfFree } from './dialog.tsx'

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
  const button = useRef<HTMLButtonElement>(null)
  const close = () => {
    setOpen(false)
    focusIfFree(button.current)
  }
  return (
    <>
      <button ref={button} type="button" className={className} aria-label={label} onClick={() => setOpen(true)}>
        {children}
      </button>
      {isOpen && dialog(close)}
    </>
  )
}
