import { escapeLine, type Meta, type Sessions } from '@holdfast/protocol'
import { ListButton } from '../ui/list-button.tsx'
import { hrefOf } from '../ui/route.ts'
import { SessionPane } from './session-pane.tsx'
import { useOpenSession } from './state/use-live-view.ts'

type SessionPageProps = {
  readonly sessions: Sessions
  readonly name: string
  readonly listed: readonly Meta[]
  readonly onOpenList: () => void
}

export function SessionPage({ sessions, name, listed, onOpenList }: SessionPageProps) {
  const { state: opened, retry } = useOpenSession(sessions, name)
  switch (opened.phase) {
    case 'opening':
      return <main className="session-pane" aria-busy="true" />
    case 'refused':
      return (
        <main className="session-pane refused">
          <ListButton onOpen={onOpenList} />
          <h1>This session cannot be opened</h1>
          <p role="alert">{escapeLine(opened.fault.message)}</p>
          <p className="choices">
            <button type="button" onClick={retry}>
              Try again
            </button>
            <a className="button" href={hrefOf({ at: 'new' })}>
              Start a new one
            </a>
          </p>
        </main>
      )
    case 'open':
      return <SessionPane handle={opened.handle} live={opened.live} listed={listed} onOpenList={onOpenList} />
  }
}
