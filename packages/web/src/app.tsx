import type { RemoteHoldfast } from '@holdfast/client'
import { useEffect, useEffectEvent, useState } from 'react'
import { ActionsProvider } from './actions/actions.tsx'
import { isPopupOpen, useKey } from './keys/use-key.ts'
import { isNarrowed, type ListFilter, noFilter, withKnownRows } from './list/list-filter.ts'
import { SessionList } from './list/session-list.tsx'
import { useSessionList } from './list/use-session-list.ts'
import { ConnectionBar } from './screens/connection-bar.tsx'
import { type Login, useLoginEnded } from './screens/login.ts'
import { isNarrow } from './screens/use-narrow.ts'
import { useIsLost, useScreens, useShared } from './screens/use-screens.ts'
import { SessionPage } from './session/session-page.tsx'
import { toggleTheme } from './settings/appearance.ts'
import { SharedPage, sharedPath } from './shared-page.tsx'
import { SignedOut } from './signed-out.tsx'
import { StartPage } from './start/start-page.tsx'
import { LazyPart, lazySource, loadEarly, loadingOf, PartBoundary } from './ui/lazy-part.tsx'
import { goTo, hrefOf, useRoute } from './ui/route.ts'
import { WaitingPage } from './waiting/waiting-page.tsx'

const settingsPage = lazySource(async () => (await import('./settings/settings-page.tsx')).SettingsPage)
const trashPage = lazySource(async () => (await import('./trash/trash-page.tsx')).TrashPage)
const keyList = lazySource(async () => (await import('./palette/key-list.tsx')).KeyList)
const palette = lazySource(async () => (await import('./palette/palette.tsx')).Palette)
const lazyParts = [loadingOf(palette), loadingOf(settingsPage), loadingOf(trashPage), loadingOf(keyList)]

type AppProps = { readonly holdfast: RemoteHoldfast; readonly login: Login }

/** The page: that of a share link, or that of a person who is logged in. */
export const App = ({ holdfast, login }: AppProps) =>
  location.pathname === sharedPath ? <SharedPage holdfast={holdfast} /> : <FullPage holdfast={holdfast} login={login} />

function FullPage({ holdfast, login }: AppProps) {
  const sessions = holdfast.handles
  const route = useRoute()
  const [filter, setFilter] = useState(noFilter)
  const [isListOpen, setListOpen] = useState(false) // the list is a drawer on a narrow screen
  const [isListHidden, setListHidden] = useState(false)
  const newest = useSessionList(sessions, noFilter) // what is started, and what is related, follows no filter
  const filtered = useSessionList(sessions, isFiltered(filter) ? filter : null)
  const list = isFiltered(filter) ? withKnownRows(filtered, newest, filter) : newest

  const screens = useScreens()
  useEarlyParts()
  const isLoginEnded = useLoginEnded(login)
  const retry = () => {
    login.retry()
    newest.refresh()
    screens.retry()
  }
  const place = hrefOf(route)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawer closes when another place is shown
  useEffect(() => setListOpen(false), [place])
  useEscape(() => {
    setListOpen(false)
    document.querySelector<HTMLElement>('.list-button')?.focus() // which opened it
  }, isListOpen && isNarrow())
  useKey('settings', () => goTo({ at: 'settings' }))
  useKey('toggleTheme', toggleTheme)
  useKey('waiting', () => goTo({ at: 'waiting' }))
  useKey('newSession', () => goTo({ at: 'new' }))
  useKey('toggleList', () => {
    if (isNarrow()) setListOpen((isOpen) => !isOpen)
    else setListHidden((isHidden) => !isHidden)
  })
  if (isLoginEnded || newest.fault?.code === 'unauthorized') return <SignedOut holdfast={holdfast} onRetry={retry} />

  const { name, child, message } = route.at === 'session' ? route : { name: null, child: undefined, message: undefined }
  const listed = newest.sessions.find(({ id, handle }) => id === name || handle === name)
  const onOpenList = () => {
    setListHidden(false)
    setListOpen(true)
  }
  return (
    <ActionsProvider onImported={newest.refresh}>
      <div className={['app', isListOpen && 'list-open', isListHidden && 'list-hidden'].filter(Boolean).join(' ')}>
        <ConnectionBar />
        <SessionList
          sessions={sessions}
          list={list}
          filter={filter}
          child={child}
          onFilter={setFilter}
          current={listed?.id ?? name}
          onLeave={() => setListOpen(false)}
        />
        <button type="button" className="scrim" aria-label="Close sessions" onClick={() => setListOpen(false)} />
        <PartBoundary place={place}>
          {route.at === 'trash' && (
            <LazyPart source={trashPage} props={{ sessions, onOpenList }} waiting={<main aria-busy="true" />} />
          )}
          {route.at === 'settings' && (
            <LazyPart source={settingsPage} props={{ onOpenList }} waiting={<main aria-busy="true" />} />
          )}
          {route.at === 'waiting' && <WaitingPage sessions={sessions} onOpenList={onOpenList} />}
          {route.at === 'new' && <StartPage sessions={sessions} onOpenList={onOpenList} />}
          {name !== null && (
            <SessionPage
              key={name}
              sessions={sessions}
              name={name}
              child={child}
              message={message}
              onOpenList={onOpenList}
              listed={newest.sessions}
            />
          )}
        </PartBoundary>
        <Overlays sessions={sessions} />
      </div>
    </ActionsProvider>
  )
}

/** Loads the other screens while the page is idle, once it is connected. */
function useEarlyParts(): void {
  const isLive = useShared(({ connection }) => connection.state === 'live')
  useEffect(() => {
    if (!isLive) return
    let isLeft = false
    const timer = setTimeout(() => whenIdle(() => void loadEarly(lazyParts, () => isLeft)), earlyMs)
    return () => {
      isLeft = true
      clearTimeout(timer)
    }
  }, [isLive])
}

/** What the first screen needs comes first. */
const earlyMs = 1000

/** Safari has no idle callback. */
const whenIdle = (work: () => void): void => {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(work)
  else work()
}

const isFiltered = (filter: ListFilter): boolean => filter.search.trim() !== '' || isNarrowed(filter)

/** What opens above the page by a key: the palette and the list of keys. */
function Overlays({ sessions }: { readonly sessions: RemoteHoldfast['handles'] }) {
  const [open, setOpen] = useState<'palette' | 'keys' | null>(null)
  const close = () => setOpen(null)
  useKey('palette', () => setOpen('palette'))
  useKey('help', () => setOpen('keys'))
  return (
    <>
      {open === 'palette' && (
        <LazyPart
          source={palette}
          props={{ sessions, onClose: close }}
          waiting={null}
          failed={<OverlayNote onClose={close} />}
        />
      )}
      {open === 'keys' && (
        <LazyPart source={keyList} props={{ onClose: close }} waiting={null} failed={<OverlayNote onClose={close} />} />
      )}
    </>
  )
}

/** Calls `onEscape` for the Escape key while `isOn`, before anything else: it then stops no agent. */
function useEscape(onEscape: () => void, isOn = true): void {
  const latest = useEffectEvent(onEscape)
  useEffect(() => {
    if (!isOn) return
    const listener = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || isPopupOpen()) return
      // A search is cleared first.
      if (event.target instanceof HTMLInputElement && event.target.type === 'search' && event.target.value !== '')
        return
      event.preventDefault()
      event.stopPropagation()
      latest()
    }
    addEventListener('keydown', listener, true)
    return () => removeEventListener('keydown', listener, true)
  }, [isOn])
}

/** Says that an overlay could not be loaded. The page does not reload itself for one: a text may be open for editing. */
function OverlayNote({ onClose }: { readonly onClose: () => void }) {
  const isLost = useIsLost()
  useEscape(onClose)
  return (
    <div className="overlay-note" role="alert">
      <p>{isLost ? 'The server does not respond, so this cannot be loaded.' : 'This could not be loaded.'}</p>
      {!isLost && (
        <button type="button" onClick={() => location.reload()}>
          Reload the page
        </button>
      )}
      <button type="button" className="quiet icon-button" aria-label="Close" onClick={onClose}>
        <span aria-hidden="true">✕</span>
      </button>
    </div>
  )
}
