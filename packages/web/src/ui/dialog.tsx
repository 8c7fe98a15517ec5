import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Dialog as Base } from '@base-ui/react/dialog'
import { type ReactNode, type RefObject, useState } from 'react'

type DialogProps = {
  readonly title: string
  /** A word beside the title, such as a count. */
  readonly about?: ReactNode
  /** The title is a path. */
  readonly isPath?: boolean
  /** Drawn below the content, where it stays in sight. */
  readonly footer?: ReactNode
  readonly className?: string
  /** What has the focus at first; by default the first field or button. */
  readonly focus?: RefObject<HTMLElement | null>
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Gives the focus to an element if nothing has it: by now a person may write elsewhere. */
export function focusIfFree(element: HTMLElement | null): void {
  if (document.activeElement === null || document.activeElement === document.body) element?.focus()
}

/**
 * The frame of every dialog: title, Close, content, footer. It is open as long as it is drawn. Escape and a press beside it
 * close it, and the focus goes back to where it was.
 */
export function Dialog(props: DialogProps) {
  const { title, about, isPath = false, footer, className = '', focus, onClose, children } = props
  const [isOpen, setOpen] = useState(true)
  return (
    <Base.Root
      open={isOpen}
      onOpenChange={(open) => !open && setOpen(false)}
      onOpenChangeComplete={(open) => !open && onClose()}
    >
      <Base.Portal>
        <Base.Backdrop className="dialog-backdrop" forceRender />
        <Base.Popup
          className={`dialog ${className}`}
          initialFocus={focus ?? true}
          finalFocus={finalFocus}
          // A dialog may be drawn by a part of another form, which must not be sent with it.
          onSubmit={(event) => event.stopPropagation()}
        >
          <header>
            <Base.Title className={isPath ? 'path' : undefined} title={title}>
              {title}
            </Base.Title>
            {about !== undefined && <span className="dialog-about">{about}</span>}
            <Base.Close className="quiet">Close</Base.Close>
          </header>
          {children}
          {footer != null && <footer>{footer}</footer>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** The focus goes back to where it was, unless a person writes elsewhere by now. */
const finalFocus = (): boolean => {
  const at = document.activeElement
  return at === null || at === document.body || at.closest('.dialog') !== null
}

type ConfirmDialogProps = {
  /** A question, such as "Delete this session?". */
  readonly title: string
  /** What it does, and whether it can be undone. */
  readonly children: ReactNode
  /** The word of the button that does it. */
  readonly confirm: string
  readonly isDanger?: boolean
  /** It cannot be done now. */
  readonly isOff?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before something that cannot be undone easily. A press beside it does not close it. Cancel has the focus. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, confirm, isDanger = false, isOff = false, onConfirm, onClose } = props
  const [isOpen, setOpen] = useState(true)
  return (
    <AlertDialog.Root
      open={isOpen}
      onOpenChange={(open) => !open && setOpen(false)}
      onOpenChangeComplete={(open) => !open && onClose()}
    >
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="dialog-backdrop" forceRender />
        <AlertDialog.Popup className="dialog confirm" finalFocus={finalFocus}>
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />} className="confirm-text">
            {children}
          </AlertDialog.Description>
          <footer>
            <AlertDialog.Close>Cancel</AlertDialog.Close>
            <AlertDialog.Close className={isDanger ? 'danger' : 'primary'} disabled={isOff} onClick={onConfirm}>
              {confirm}
            </AlertDialog.Close>
          </footer>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
