import { combineQueueEntriesToText, type LiveView } from '@holdfast/client'
import { escapeLine, type Meta, type SessionHandle } from '@holdfast/protocol'
import { useEffect, useEffectEvent, useMemo } from 'react'
import { findRelated } from '../list/related-sessions.ts'
import { isBusy } from '../text/status-text.ts'
import { isMenuOpen } from '../ui/header-menu.tsx'
import { StorageBar } from '../ui/storage-bar.tsx'
import { Dock } from './composer/dock.tsx'
import { SessionHeader } from './header/session-header.tsx'
import { controlOf } from './state/control.ts'
import { useDraftText } from './state/draft-text.ts'
import { SessionContext, type SessionOnScreen, WatchingContext } from './state/session-context.ts'
import { useCommands } from './state/use-commands.ts'
import { useVersion } from './state/use-live-view.ts'
import { PinnedStrip } from './transcript/pinned-strip.tsx'
import { TranscriptView } from './transcript/transcript-view.tsx'

type SessionPaneProps = {
  readonly handle: SessionHandle
  readonly live: LiveView
  /** The listed sessions, to find parent and forks. */
  readonly listed: readonly Meta[]
  readonly onOpenList: () => void
}

/** An open session: header, transcript, approval, queue and composer. */
export function SessionPane({ handle, live, listed, onOpenList }: SessionPaneProps) {
  useVersion(live)
  const commands = useCommands(live)
  const draft = useDraftText(handle.id)
  const { asks } = commands
  const { current, write } = draft
  const parts = useMemo((): SessionOnScreen => {
    const takeBack = (text: string) => write(combineQueueEntriesToText([text, current()]))
    return { handle, live, asks, takeBack }
  }, [handle, live, asks, current, write])
  const { meta, view } = live
  const control = controlOf(live)
  const status = view?.status
  const approval = view?.pendingApprovals[0]

  const stop = useEffectEvent((event: KeyboardEvent) => {
    const isSearching = event.target instanceof HTMLInputElement && event.target.type === 'search'
    if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || isSearching) return
    if (control.watching !== null || isMenuOpen()) return
    if (status !== undefined && isBusy(status)) commands.stop()
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => stop(event)
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])

  const title = meta?.title ? escapeLine(meta.title) : 'New session'
  useEffect(() => {
    document.title = `${approval ? '● ' : ''}${title} · Holdfast`
    return () => {
      document.title = 'Holdfast'
    }
  }, [title, approval])

  if (!view || !meta) {
    return (
      <main className="session-pane" aria-busy="true">
        {live.storageError && <StorageBar error={live.storageError} />}
      </main>
    )
  }
  return (
    <SessionContext value={parts}>
      <WatchingContext value={control.watching}>
        <main className="session-pane">
          <SessionHeader
            meta={meta}
            view={view}
            connection={live.connection}
            control={control}
            commands={commands}
            related={findRelated(meta, listed)}
            here={live.here}
            onOpenList={onOpenList}
          />
          <PinnedStrip view={view} />
          <TranscriptView live={live} view={view} watching={control.watching} onContinue={commands.carryOn} />
          <Dock draft={draft} view={view} control={control} commands={commands} storageError={live.storageError} />
        </main>
      </WatchingContext>
    </SessionContext>
  )
}
