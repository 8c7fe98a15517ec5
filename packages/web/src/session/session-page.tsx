import { combineQueueEntriesToText, type LiveView } from '@holdfast/client'
import { escapeLine, type Meta, type SessionHandle, type Sessions } from '@holdfast/protocol'
import { useMemo } from 'react'
import { useSessionCommands } from '../actions/use-session-commands.ts'
import { DropArea } from '../draft-files/file-input.tsx'
import { useDraftFiles } from '../draft-files/use-draft-files.ts'
import { useKey } from '../keys/use-key.ts'
import { findRelated, titleOf } from '../list/related-sessions.ts'
import { useIsLost } from '../screens/use-screens.ts'
import { useTabTitle } from '../screens/use-tab-title.ts'
import { useDraftText } from '../text/draft-text.ts'
import { isBusy } from '../text/format.ts'
import { ListButton, StorageBar } from '../ui/elements.tsx'
import { hrefOf } from '../ui/route.ts'
import { Announcer, stateSentence } from './announcer.tsx'
import { ChildPane } from './child-pane.tsx'
import { Dock } from './composer/dock.tsx'
import { EndedNotice } from './ended-notice.tsx'
import { ChangesByKey } from './files/changes-by-key.tsx'
import { RewindByKey } from './files/rewind-by-key.tsx'
import { SessionHeader } from './header/session-header.tsx'
import { SidePanel } from './panel/side-panel.tsx'
import { type Panel, usePanel } from './panel/use-panel.ts'
import { controlOf, SessionContext, type SessionOnScreen, WatchingContext } from './state/session-context.ts'
import { useBackgroundShells } from './state/use-background-shells.ts'
import { useCommands } from './state/use-commands.ts'
import { useOpenSession, useVersion } from './state/use-live-view.ts'
import { askedKey } from './subagents/asked.ts'
import { type Subagents, SubagentsContext, useSubagentsOf } from './subagents/use-subagents.ts'
import { PinnedStrip } from './transcript/pins.tsx'
import { TranscriptView } from './transcript/transcript-view.tsx'
import { useMessageJump } from './transcript/use-message-jump.ts'
import { UntrustedContext, useUntrusted } from './trust/use-untrusted.ts'

type SessionPageProps = {
  readonly sessions: Sessions
  readonly name: string
  /** The subagent that is open beside it. */
  readonly child: string | undefined
  /** The message to go to. */
  readonly message: number | undefined
  readonly listed: readonly Meta[]
  readonly onOpenList: () => void
}

export function SessionPage(props: SessionPageProps) {
  const { sessions, name, onOpenList } = props
  const { state: opened, retry } = useOpenSession(sessions, name)
  switch (opened.phase) {
    case 'opening':
      return <main className="session-pane" aria-busy="true" />
    case 'refused':
      return (
        <main className="session-pane refused">
          <ListButton onOpen={onOpenList} />
          <h1>
            {opened.fault.code === 'unreachable' ? 'The server does not respond' : 'This session cannot be opened'}
          </h1>
          <p role="alert">{escapeLine(opened.fault.message)}</p>
          {opened.fault.code === 'unreachable' && <p>The session opens by itself when the server is back.</p>}
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
      return <SessionPane {...props} handle={opened.handle} live={opened.live} onReopen={retry} />
  }
}

type SessionPaneProps = SessionPageProps & {
  readonly handle: SessionHandle
  readonly live: LiveView
  readonly onReopen: () => void
}

/** An open session: header, transcript, approval, queue and composer. */
function SessionPane(props: SessionPaneProps) {
  const { sessions, name, child, message, handle, live, listed, onOpenList, onReopen } = props
  useVersion(live)
  const commands = useCommands(live)
  const draft = useDraftText(handle.id)
  const draftFiles = useDraftFiles(handle.id)
  const { asks } = commands
  const { current, write } = draft
  const { keep } = draftFiles
  const parts = useMemo((): SessionOnScreen => {
    const takeBack: SessionOnScreen['takeBack'] = (text, files) => {
      write(combineQueueEntriesToText([text, current()]))
      if (files.length > 0) keep(files)
    }
    return { handle, live, asks, takeBack }
  }, [handle, live, asks, current, write, keep])
  const { meta, view } = live
  const { subagents, asked, inside, outside } = useSubagentsOf({ sessions, handle, live, view, name, child })
  const question = asked[0] && askedKey(asked[0])
  const panel = besideChild(usePanel(view, question), subagents)
  const shells = useBackgroundShells(handle, view)
  const control = controlOf(live)
  const status = view?.status
  const isLost = useIsLost()
  const untrusted = useUntrusted(meta, status)

  // Who watches may stop, too.
  useKey('stop', commands.stop, !control.isLost && status !== undefined && isBusy(status))

  useMessageJump(parts, message)
  useSessionCommands(meta ?? null, control.isLost)
  const isAsked = question !== undefined
  const title = meta ? titleOf(meta) : 'New session'
  useTabTitle(title, isAsked)

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
        <UntrustedContext value={untrusted}>
          <SubagentsContext value={subagents}>
            <main className="session-pane">
              <Announcer live={live} state={stateSentence({ view, control, asked })} isAsked={asked.length > 0} />
              <SessionHeader
                meta={meta}
                view={view}
                connection={live.connection}
                control={control}
                commands={commands}
                related={findRelated(meta, listed)}
                here={live.here}
                onOpenList={onOpenList}
                panel={panel}
                shells={shells.running.length}
                isAsked={isAsked}
              />
              <div className={`session-body${bodyClass(panel, subagents)}`}>
                <DropArea
                  draftFiles={draftFiles}
                  isOff={control.watching !== null && !control.isLost}
                  className="session-column"
                  onTakeOut={(text) => write(current().replace(text, ''))}
                >
                  <ChangesByKey />
                  <RewindByKey />
                  <PinnedStrip view={view} />
                  <TranscriptView live={live} view={view} watching={control.watching} onContinue={commands.carryOn} />
                  {live.connection.state === 'ended' && !isLost ? (
                    <EndedNotice sessions={sessions} meta={meta} onOpen={onReopen} />
                  ) : (
                    <Dock
                      draft={draft}
                      draftFiles={draftFiles}
                      meta={meta}
                      view={view}
                      live={live}
                      listed={listed}
                      control={control}
                      commands={commands}
                      asked={outside}
                      storageError={live.storageError}
                    />
                  )}
                </DropArea>
                {panel.isOpen && (
                  <SidePanel
                    id={panel.id}
                    view={view}
                    workspace={meta.workspace}
                    shells={shells}
                    onClose={panel.toggle}
                  />
                )}
                {subagents.opened !== null && (
                  <ChildPane
                    key={subagents.opened}
                    id={subagents.opened}
                    sessions={sessions}
                    title={title}
                    inside={inside}
                    outside={outside.length}
                    commands={commands}
                  />
                )}
              </div>
            </main>
          </SubagentsContext>
        </UntrustedContext>
      </WatchingContext>
    </SessionContext>
  )
}

const bodyClass = ({ isOpen }: Panel, { opened }: Subagents): string =>
  opened !== null ? ' child-open' : isOpen ? ' panel-open' : ''

/** A subagent takes the place of the panel, until the panel is wanted. */
function besideChild(panel: Panel, { opened, close }: Subagents): Panel {
  if (opened === null) return panel
  return {
    ...panel,
    isOpen: false,
    toggle() {
      close()
      if (!panel.isOpen) panel.toggle()
    },
    show(part) {
      close()
      panel.show(part)
    },
  }
}
