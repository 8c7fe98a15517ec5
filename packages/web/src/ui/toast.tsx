import { Toast } from '@base-ui/react/toast'

const toasts = Toast.createToastManager()

export type ToastWish = {
  readonly text: string
  /** A button, such as Undo. */
  readonly action?: { readonly name: string; readonly onChoose: () => void }
  /** It is an error, and is read out at once. */
  readonly isBad?: boolean
  /** It stays until a person closes it, or its caller does. */
  readonly stays?: boolean
}

const shownMs = 8_000

/**
 * Shows a short message at the top of the page, in the place of the one before. It leaves by itself, but not while a person
 * is on it. Returns what closes it.
 */
export function showToast({ text, action, isBad = false, stays = false }: ToastWish): () => void {
  const id = toasts.add({
    title: text,
    timeout: stays ? 0 : shownMs, // 0 is without end
    priority: isBad ? 'high' : 'low',
    ...(isBad && { type: 'bad' }),
    ...(action && {
      actionProps: {
        children: action.name,
        onClick: () => {
          toasts.close(id)
          action.onChoose()
        },
      },
    }),
  })
  return () => toasts.close(id)
}

/** Draws the messages of `showToast`. F6 moves the focus to them. */
export const Toasts = () => (
  <Toast.Provider toastManager={toasts} limit={1}>
    <Toast.Portal>
      <Toast.Viewport className="toasts" aria-label="Messages">
        <ToastList />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
)

function ToastList() {
  const { toasts: shown } = Toast.useToastManager()
  return shown.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast" swipeDirection={['down', 'right']}>
      <Toast.Title className="toast-text" />
      <Toast.Action className="toast-action" />
      <Toast.Close className="quiet icon-button" aria-label="Close">
        ✕
      </Toast.Close>
    </Toast.Root>
  ))
}
