import { escapeLine, type Meta, type Sessions } from '@holdfast/protocol'
import { ListButton } from '../list/list-button.tsx'
import { SessionPane } from './session-pane.tsx'
import { useOpenSession } from './use-live-view.ts'

type SessionPageProps = {
  readonly sessions: Sessions
  readonly name: string
  /** The list's word on it, fresher in title and usage than the snapshot it was opened with. */
  readonly listed: Meta | undefined
  readonly onChanged: () => void
  readonly onOpenList: () => void
}

export function SessionPage({ sessions, name, listed, onChanged, onOpenList }: SessionPageProps) {
  const opened = useOpenSession(sessions, name)
  switch (opened.phase) {
    case 'opening':
      return <main className="session-pane" aria-busy="true" />
    case 'refused':
      return (
        <main className="session-pane refused">
          <ListButton onOpen={onOpenList} />
          <h1>This session cannot be opened</h1>
          <p role="alert">{escapeLine(opened.fault.message)}</p>
          <a className="button" href="#/">
            Start a new one
          </a>
        </main>
      )
    case 'open':
      return (
        <SessionPane
          handle={opened.handle}
          live={opened.live}
          listed={listed}
          onChanged={onChanged}
          onOpenList={onOpenList}
        />
      )
  }
}
