import { type ReactNode, useEffect, useId, useRef } from 'react'
import { createPortal } from 'react-dom'

type DialogProps = {
  readonly title: string
  /** A word beside the title, such as a count. */
  readonly about?: ReactNode
  /** The title is a path. */
  readonly isPath?: boolean
  /** Drawn below the content, where it stays in sight. */
  readonly footer?: ReactNode
  readonly onClose: () => void
  readonly children: ReactNode
}

/**
 * Gives the focus to an element if nothing has it. The browser itself puts it back when a dialog closes, and tells the page
 * a little later: by then a person may write elsewhere.
 */
export function focusIfFree(element: HTMLElement | null): void {
  if (document.activeElement === null || document.activeElement === document.body) element?.focus()
}

/** The frame of every dialog: title, Close, content, footer. Escape and a click beside it close it. */
export function Dialog({ title, about, isPath = false, footer, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => dialog.current?.showModal(), [])
  return createPortal(
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={heading}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current.close()}
    >
      <header>
        <h2 id={heading} className={isPath ? 'path' : undefined} title={title}>
          {title}
        </h2>
        {about !== undefined && <span className="dialog-about">{about}</span>}
        <button type="button" className="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      {children}
      {footer != null && <footer>{footer}</footer>}
    </dialog>,
    document.body,
  )
}
