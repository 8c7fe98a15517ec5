import { escapeLine, type Meta } from '@holdfast/protocol'
import { hrefOf } from '../ui/route.ts'

/** Whether notifications can be asked for, are on, or cannot be had here: they need HTTPS or this machine. */
export type NotifyState = 'ask' | 'on' | 'off' | 'missing'

export function notifyState(): NotifyState {
  if (!('Notification' in globalThis) || !isSecureContext || isRefused) return 'missing'
  const { permission } = Notification
  return permission === 'granted' ? 'on' : permission === 'denied' ? 'off' : 'ask'
}

/** A browser on a phone has the class, but lets only service workers show notifications. It says so at the first one. */
let isRefused = false

/** Shows a notification. Returns null if this browser cannot. */
function open(title: string, options: NotificationOptions): Notification | null {
  try {
    return new Notification(title, options)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    isRefused = true
    return null
  }
}

/** Asks for the permission. Call it for a click only. */
export async function askToNotify(): Promise<NotifyState> {
  await Notification.requestPermission()
  // Finds out at once whether they work there. Elsewhere it would be seen for a moment.
  if (notifyState() === 'on' && /Android/.test(navigator.userAgent)) open('Notifications are on', {})?.close()
  return notifyState()
}

const offKey = 'holdfast.notify-off'

/** Whether a person turned notifications off in this browser. */
export const isNotifyOff = (): boolean => localStorage.getItem(offKey) !== null

export function setNotifyOff(isOff: boolean): void {
  if (isOff) localStorage.setItem(offKey, 'yes')
  else localStorage.removeItem(offKey)
}

/** Notifies a person about sessions that began to wait, if allowed and if no tab is seen. */
export async function notifyWaiting(
  sessions: readonly Pick<Meta, 'id' | 'title' | 'handle'>[],
  isAnySeen: () => Promise<boolean>,
): Promise<void> {
  if (sessions.length === 0 || notifyState() !== 'on' || isNotifyOff() || (await isAnySeen())) return
  for (const { id, title, handle } of sessions) {
    const shown = open('Waits for your answer', { body: escapeLine(title) || handle, tag: id })
    if (shown === null) return
    shown.addEventListener('click', () => {
      globalThis.focus()
      location.hash = hrefOf({ at: 'session', name: id })
      shown.close()
    })
  }
}
