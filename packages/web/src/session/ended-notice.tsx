import type { Fault, Sessions } from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { useActions } from '../actions/actions.tsx'
import type { ActionTarget } from '../actions/session-actions.ts'
import { hrefOf } from '../ui/route.ts'

type EndedNoticeProps = {
  readonly sessions: Sessions
  readonly meta: ActionTarget
  /** Opens the session again. */
  readonly onOpen: () => void
}

type Why = 'asking' | 'stopped' | Fault['code']

/** Says why a session that is on screen can no longer be followed, and what to do. It stands in the place of the input. */
export function EndedNotice({ sessions, meta, onOpen }: EndedNoticeProps) {
  const { restore } = useActions()
  const [why, setWhy] = useState<Why>('asking')
  useEffect(() => {
    let isLeft = false
    void sessions.open(meta.id).then((opened) => {
      if (!isLeft) setWhy(opened.ok ? 'stopped' : opened.fault.code)
    })
    return () => {
      isLeft = true
    }
  }, [sessions, meta.id])
  const isTrashed = why === 'session_trashed'
  return (
    <div className="dock column">
      <div className="ended-notice" role="alert">
        <p>{endedText(why)}</p>
        {isTrashed && (
          <button type="button" className="primary" onClick={() => void restore(meta).then(onOpen)}>
            Restore
          </button>
        )}
        {!isTrashed && why !== 'asking' && why !== 'session_not_found' && (
          <button type="button" onClick={onOpen}>
            Open it again
          </button>
        )}
        <a className="button" href={hrefOf({ at: 'new' })}>
          New session
        </a>
      </div>
    </div>
  )
}

/** Says why a session ended on this screen. */
export function endedText(why: Why): string {
  switch (why) {
    case 'session_trashed':
      return 'This session is in the trash. It was deleted in another place.'
    case 'session_not_found':
      return 'This session was deleted permanently.'
    default:
      return 'This session is no longer followed: it was stopped.'
  }
}
