import type { LiveView, RemoteHoldfast } from '@holdfast/client'
import { escapeLine, HoldfastError, type SessionHandle } from '@holdfast/protocol'
import { useEffect, useMemo, useState } from 'react'
import { titleOf } from './list/related-sessions.ts'
import { Announcer } from './session/announcer.tsx'
import {
  SessionContext,
  type SessionOnScreen,
  ShownOnlyContext,
  WatchingContext,
} from './session/state/session-context.ts'
import { useCommands } from './session/state/use-commands.ts'
import { useOpenSession, useVersion } from './session/state/use-live-view.ts'
import { TranscriptView } from './session/transcript/transcript-view.tsx'
import { sharedHref } from './signed-out.tsx'
import { baseName, statusText } from './text/format.ts'
import { Mark } from './ui/elements.tsx'
import { parseRoute } from './ui/route.ts'

/** The path of share links. */
export const sharedPath = '/shared'

type Entry =
  | { readonly phase: 'entering' | 'away' }
  | { readonly phase: 'refused'; readonly why: string }
  | { readonly phase: 'in'; readonly session: string }

const noSecret = 'This link is not complete. Ask for it again.'

/** The page of a share link: shows one session and offers nothing else. */
export function SharedPage({ holdfast }: { readonly holdfast: RemoteHoldfast }) {
  const entry = useEntry(holdfast)
  switch (entry.phase) {
    case 'entering':
      return <main className="session-pane" aria-busy="true" />
    case 'away':
      return <ServerAway />
    case 'refused':
      return <LinkEnded why={entry.why} />
    case 'in':
      return <SharedSession holdfast={holdfast} name={entry.session} />
  }
}

/** The secret is taken once: React runs effects twice while it is developed. */
let entering: Promise<Entry> | null = null

/** Exchanges the secret in the fragment for a cookie, and removes it from the address and from the history. */
function useEntry(holdfast: Pick<RemoteHoldfast, 'logIn'>): Entry {
  const [entry, setEntry] = useState<Entry>({ phase: 'entering' })
  useEffect(() => {
    entering ??= enter(holdfast, () => setEntry({ phase: 'away' }))
    entering.then(setEntry)
  }, [holdfast])
  return entry
}

const awayMs = 2000

/** Tries again until the server is there: the secret is no longer in the address. */
async function enter(holdfast: Pick<RemoteHoldfast, 'logIn'>, onAway: () => void): Promise<Entry> {
  const route = parseRoute(location.hash)
  if (route.at === 'session') return { phase: 'in', session: route.name }
  const secret = location.hash.slice(1)
  history.replaceState(null, '', sharedPath)
  if (secret === '') return { phase: 'refused', why: noSecret }
  for (;;) {
    try {
      const { session } = await holdfast.logIn(secret)
      if (session === null)
        return { phase: 'refused', why: 'This link does not belong to a session. Open the main page.' }
      history.replaceState(null, '', sharedHref(session))
      return { phase: 'in', session }
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      if (error.code !== 'unreachable') return { phase: 'refused', why: error.message }
      onAway()
      await new Promise((resolve) => setTimeout(resolve, awayMs))
    }
  }
}

/** Says that the server does not answer. What was asked for opens when it does. */
function ServerAway() {
  return (
    <main className="signed-out">
      <Mark />
      <h1>The server does not respond</h1>
      <p role="alert">The session opens by itself when the server is back.</p>
    </main>
  )
}

function LinkEnded({ why }: { readonly why: string }) {
  return (
    <main className="signed-out">
      <Mark />
      <h1>This link does not work</h1>
      <p role="alert">{escapeLine(why)}</p>
      <p>Ask the person who shared the session for a new link.</p>
    </main>
  )
}

function SharedSession({ holdfast, name }: { readonly holdfast: RemoteHoldfast; readonly name: string }) {
  const { state } = useOpenSession(holdfast.handles, name)
  switch (state.phase) {
    case 'opening':
      return <main className="session-pane" aria-busy="true" />
    case 'refused':
      return state.fault.code === 'unreachable' ? <ServerAway /> : <LinkEnded why={state.fault.message} />
    case 'open':
      return <SharedPane handle={state.handle} live={state.live} />
  }
}

const onlyShown = 'This page only shows the session.'
const nothing = () => undefined

/** The transcript of a shared session, as it grows. */
function SharedPane({ handle, live }: { readonly handle: SessionHandle; readonly live: LiveView }) {
  useVersion(live)
  const { asks } = useCommands(live)
  const parts = useMemo((): SessionOnScreen => ({ handle, live, asks, takeBack: nothing }), [handle, live, asks])
  const { meta, view, connection } = live
  if (connection.state === 'ended') return <LinkEnded why={connection.fault?.message ?? 'The session has ended.'} />
  if (!view || !meta) return <main className="session-pane" aria-busy="true" />
  return (
    <SessionContext value={parts}>
      <WatchingContext value={onlyShown}>
        <ShownOnlyContext value={true}>
          <main className="session-pane shared">
            <Announcer live={live} state="" isAsked={false} />
            {connection.state === 'waiting' && (
              <div className="connection-bar" role="alert">
                <p>
                  <strong>Connection lost.</strong> What you see may be old. The page tries again by itself.
                </p>
              </div>
            )}
            <header className="session-header">
              <Mark />
              <div className="session-name">
                <h1 title={titleOf(meta)}>{titleOf(meta)}</h1>
                <p>
                  <span>{escapeLine(baseName(meta.workspace)) || 'no folder'}</span>
                  <span>shared, read-only</span>
                </p>
              </div>
              <p className="session-status">
                <span className={`dot ${view.status}`} aria-hidden="true" />
                <span className="status-word">{statusText(view.status)}</span>
              </p>
            </header>
            <div className="session-body">
              <div className="session-column">
                <TranscriptView live={live} view={view} watching={onlyShown} onContinue={nothing} />
              </div>
            </div>
          </main>
        </ShownOnlyContext>
      </WatchingContext>
    </SessionContext>
  )
}
