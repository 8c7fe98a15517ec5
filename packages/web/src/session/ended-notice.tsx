import type { Fault, SessionNews, Sessions } from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { useActions } from '../actions/actions.tsx'
import type { ActionTarget } from '../actions/session-actions.ts'
import { useScreens } from '../screens/use-screens.ts'
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
  const screens = useScreens()
  const [why, setWhy] = useState<Why>('asking')
  useEffect(() => {
    let asked = 0
    const ask = async () => {
      const mine = ++asked
      const opened = await sessions.open(meta.id)
      if (mine === asked) setWhy(opened.ok ? 'stopped' : opened.fault.code)
    }
    void ask()
    // A session that is deleted is stopped first, and in the trash a moment later.
    const onNews = (news: SessionNews) => void (news.type === 'session.removed' && news.session === meta.id && ask())
    const leave = screens.follow({ onNews, onMissed: () => void ask() })
    return () => {
      asked += 1
      leave()
    }
  }, [sessions, screens, meta.id])
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
