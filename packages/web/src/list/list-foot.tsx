import { useEffect, useState } from 'react'
import { useActions } from '../actions/actions.tsx'
import { keyText } from '../keys/key-hint.tsx'
import { runKey, useKey } from '../keys/use-key.ts'
import { askToNotify, type NotifyState, notifyState } from '../screens/notify.ts'
import { useIsLost } from '../screens/use-screens.ts'
import { goTo, hrefOf } from '../ui/route.ts'

/** Below the list: notifications, settings, trash, import and the list of keys. */
export function ListFoot() {
  const { chooseImport } = useActions()
  const isLost = useIsLost()
  useKey('trash', () => goTo({ at: 'trash' }))
  return (
    <footer className="list-foot">
      <NotifyButton />
      <a className="button quiet" href={hrefOf({ at: 'settings' })}>
        Settings
      </a>
      <a className="button quiet" href={hrefOf({ at: 'trash' })}>
        Trash
      </a>
      <button type="button" className="quiet" disabled={isLost} onClick={chooseImport}>
        Import…
      </button>
      <button type="button" className="quiet" title={`List all keys${keyText('help')}`} onClick={() => runKey('help')}>
        Keys
      </button>
    </footer>
  )
}

/** Asks for the permission to notify, on a click only. Says why it cannot. Nothing once it is allowed. */
function NotifyButton() {
  const [state, setState] = useState<NotifyState>(notifyState)
  const ask = () => void askToNotify().then(setState)
  useKey('notify', ask, state === 'ask')
  // The permission may change in the settings of the browser.
  useEffect(() => {
    let status: PermissionStatus | null = null
    const onChange = () => setState(notifyState())
    navigator.permissions?.query({ name: 'notifications' }).then(
      (found) => {
        status = found
        found.addEventListener('change', onChange)
      },
      () => undefined, // not every browser tells
    )
    return () => status?.removeEventListener('change', onChange)
  }, [])
  if (state !== 'ask') return null
  return (
    <button
      type="button"
      className="quiet notify"
      title="Your browser tells you when a session waits for you and no tab of this page is in sight"
      onClick={ask}
    >
      Notify me
    </button>
  )
}
