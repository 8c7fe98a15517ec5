import type { RemoteHoldfast } from '@holdfast/client'
import { useState } from 'react'
import { SessionList } from './list/session-list.tsx'
import { useSessionList } from './list/use-session-list.ts'
import { NewSession } from './new-session.tsx'
import { SessionPage } from './session/session-page.tsx'
import { SharedPage, sharedPath } from './shared-page.tsx'
import { SignedOut } from './signed-out.tsx'
import { useRoute } from './ui/route.ts'

/** The page: that of a share link, or that of a person who is logged in. */
export const App = ({ holdfast }: { readonly holdfast: RemoteHoldfast }) =>
  location.pathname === sharedPath ? <SharedPage holdfast={holdfast} /> : <FullPage holdfast={holdfast} />

function FullPage({ holdfast }: { readonly holdfast: RemoteHoldfast }) {
  const sessions = holdfast.handles
  const route = useRoute()
  const [search, setSearch] = useState('')
  const [isListOpen, setListOpen] = useState(false) // the list is a drawer on a narrow screen
  const list = useSessionList(sessions, search)

  if (list.fault?.code === 'unauthorized') return <SignedOut holdfast={holdfast} onRetry={list.refresh} />

  const { name, child } = route.at === 'session' ? route : { name: null, child: undefined }
  const listed = list.sessions.find(({ id, handle }) => id === name || handle === name)
  return (
    <div className={isListOpen ? 'app list-open' : 'app'}>
      <SessionList
        list={list}
        search={search}
        onSearch={setSearch}
        current={listed?.id ?? name}
        child={child}
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
          child={child}
          listed={list.sessions}
          onOpenList={() => setListOpen(true)}
        />
      )}
    </div>
  )
}
