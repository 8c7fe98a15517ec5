import type { RemoteSessions } from '@holdfast/client'
import { useState } from 'react'
import { SessionList } from './list/session-list.tsx'
import { useSessionList } from './list/use-session-list.ts'
import { NewSession } from './new-session.tsx'
import { SessionPage } from './session/session-page.tsx'
import { Mark } from './ui/elements.tsx'
import { useRoute } from './ui/route.ts'

export function App({ sessions }: { readonly sessions: RemoteSessions }) {
  const route = useRoute()
  const [search, setSearch] = useState('')
  const [isListOpen, setListOpen] = useState(false) // the list is a drawer on a narrow screen
  const list = useSessionList(sessions, search)

  if (list.fault?.code === 'unauthorized') return <SignedOut onRetry={list.refresh} />

  const name = route.at === 'session' ? route.name : null
  const listed = list.sessions.find(({ id, handle }) => id === name || handle === name)
  return (
    <div className={isListOpen ? 'app list-open' : 'app'}>
      <SessionList
        list={list}
        search={search}
        onSearch={setSearch}
        current={listed?.id ?? name}
        onLeave={() => setListOpen(false)}
      />
      <button type="button" className="scrim" aria-label="Close sessions" onClick={() => setListOpen(false)} />
      {name === null ? (
        <NewSession sessions={sessions} recent={list.sessions} onOpenList={() => setListOpen(true)} />
      ) : (
        <SessionPage
          key={name}
          sessions={sessions}
          name={name}
          listed={list.sessions}
          onOpenList={() => setListOpen(true)}
        />
      )}
    </div>
  )
}

/** Says how to log in: the server prints a link when it starts. */
function SignedOut({ onRetry }: { readonly onRetry: () => void }) {
  return (
    <main className="signed-out">
      <Mark />
      <h1>You are signed out</h1>
      <p>
        Open the login link that the server prints when it starts. It works once, for ten minutes. To get a fresh one,
        start the server again:
      </p>
      <pre>
        <code>npm start</code>
      </pre>
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </main>
  )
}
