import type { LiveView } from '@holdfast/client'
import { escapeLine, type SessionHandle } from '@holdfast/protocol'
import { useEffect, useEffectEvent } from 'react'
import { Dock } from './dock.tsx'
import { isMenuOpen } from './header-menu.tsx'
import { seatOf } from './seat.ts'
import { SessionHeader } from './session-header.tsx'
import { isBusy } from './status-text.ts'
import { TranscriptView } from './transcript-view.tsx'
import { useCommands } from './use-commands.ts'
import { useVersion } from './use-live-view.ts'

type SessionPaneProps = {
  readonly handle: SessionHandle
  readonly live: LiveView
  readonly onOpenList: () => void
}

/** One open session: header, transcript, question, queue and composer. */
export function SessionPane({ handle, live, onOpenList }: SessionPaneProps) {
  useVersion(live)
  const commands = useCommands(live)
  const { meta, view } = live
  const seat = seatOf(live)
  const status = view?.status
  const approval = view?.pendingApprovals[0]

  const stop = useEffectEvent((event: KeyboardEvent) => {
    const isSearching = event.target instanceof HTMLInputElement && event.target.type === 'search'
    if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || isSearching) return
    if (seat.watching !== null || isMenuOpen()) return
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

  if (!view || !meta) return <main className="session-pane" aria-busy="true" />
  return (
    <main className="session-pane">
      <SessionHeader
        meta={meta}
        view={view}
        connection={live.connection}
        seat={seat}
        commands={commands}
        onOpenList={onOpenList}
      />
      <TranscriptView live={live} view={view} watching={seat.watching} onContinue={commands.carryOn} />
      <Dock session={handle.id} view={view} seat={seat} commands={commands} />
    </main>
  )
}
