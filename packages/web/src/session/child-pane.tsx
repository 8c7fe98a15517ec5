import type { LiveView } from '@holdfast/client'
import { escapeLine, type SessionHandle, type SessionId, type Sessions } from '@holdfast/protocol'
import { type KeyboardEvent, useContext, useEffect, useMemo, useRef } from 'react'
import { isPopupOpen } from '../keys/use-key.ts'
import { titleOf } from '../list/related-sessions.ts'
import { costText, counted, tokensOf, tokensText, usageText } from '../text/format.ts'
import { FaultNote } from '../ui/elements.tsx'
import { hrefOf } from '../ui/route.ts'
import { controlOf, SessionContext, type SessionOnScreen, WatchingContext } from './state/session-context.ts'
import { type PageCommands, useCommands } from './state/use-commands.ts'
import { useOpenSession, useVersion } from './state/use-live-view.ts'
import type { Asked } from './subagents/asked.ts'
import { AskedCard } from './subagents/asked-card.tsx'
import { StopChild } from './subagents/child-actions.tsx'
import { childLook, kindText } from './subagents/child-text.ts'
import { useSubagents } from './subagents/use-subagents.ts'
import { TranscriptView } from './transcript/transcript-view.tsx'

type ChildPaneProps = {
  readonly sessions: Sessions
  readonly id: SessionId
  /** The title of the session beside it. */
  readonly title: string
  /** The approvals that it and those below it wait for. */
  readonly inside: readonly Asked[]
  /** How many others wait, which it may cover. */
  readonly outside: number
  /** The commands of the session beside it. */
  readonly commands: Pick<PageCommands, 'decide' | 'answer'>
}

/** A subagent beside its session; over it where there is no room. To read, to answer and to stop. */
export function ChildPane({ sessions, id, title, inside, outside, commands }: ChildPaneProps) {
  const { state } = useOpenSession(sessions, id)
  const { close } = useSubagents()
  const pane = useRef<HTMLElement>(null)
  useEffect(() => {
    const before = document.activeElement
    pane.current?.focus({ preventScroll: true })
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.nativeEvent.isComposing || isPopupOpen()) return
    event.preventDefault() // it stops no turn here
    close()
  }
  return (
    <section className="child-pane" aria-label="Subagent" ref={pane} tabIndex={-1} onKeyDown={onKeyDown}>
      <div className="child-bar">
        <span className="child-word">Subagent</span>
        <button type="button" className="quiet child-back" onClick={close}>
          <span aria-hidden="true">←</span> {title}
        </button>
        {outside > 0 && <span className="child-outside">{counted(outside, 'approval')} there</span>}
        <a className="child-alone" href={hrefOf({ at: 'session', name: id })}>
          Open alone
        </a>
        <button type="button" className="quiet icon-button child-close" aria-label="Close the subagent" onClick={close}>
          ×
        </button>
      </div>
      {state.phase === 'refused' && <FaultNote fault={state.fault} />}
      {state.phase === 'open' && (
        <OpenChild key={id} handle={state.handle} live={state.live} inside={inside} above={commands} />
      )}
    </section>
  )
}

type OpenChildProps = Pick<ChildPaneProps, 'inside'> & {
  readonly above: ChildPaneProps['commands']
  readonly handle: SessionHandle
  readonly live: LiveView
}

function OpenChild({ handle, live, inside, above }: OpenChildProps) {
  useVersion(live)
  const commands = useCommands(live)
  const { asks } = commands
  const parts = useMemo((): SessionOnScreen => ({ handle, live, asks, takeBack: null }), [handle, live, asks])
  const watching = useContext(WatchingContext)
  const { meta, view } = live
  const control = controlOf(live)
  if (!view || !meta) return <p className="nothing working">Loading</p>
  return (
    <SessionContext value={parts}>
      <ChildHead live={live} />
      <WatchingContext value={control.watching}>
        <TranscriptView live={live} view={view} watching={control.watching} onContinue={commands.carryOn} />
      </WatchingContext>
      <div className="dock column">
        <FaultNote fault={commands.fault} />
        <fieldset
          className="dock-controls"
          aria-label="Answer"
          disabled={watching !== null}
          title={watching ?? undefined}
        >
          <AskedCard asked={inside} commands={above} />
        </fieldset>
      </div>
    </SessionContext>
  )
}

/** Says which subagent it is, how it is going and what it costs, and stops it. */
function ChildHead({ live: { meta, view } }: { readonly live: LiveView }) {
  const { children } = useSubagents()
  if (!meta || !view) return null
  const child = children.find(({ id }) => id === meta.id)
  const { word, dot } = childLook(child?.status ?? 'running')
  const task = child?.task ?? titleOf(meta)
  return (
    <header className="child-head">
      <div className="session-name">
        <h2 title={escapeLine(task)}>{escapeLine(task)}</h2>
        <p>
          <span className="child-kind">{kindText(meta.subagent?.agent ?? 'general')}</span>
          {child?.background && <span>background</span>}
          <span className="header-model">{view.model}</span>
          <span className="header-usage" title={usageText(meta.usage)}>
            {tokensText(tokensOf(meta.usage))} tokens · {costText(meta.usage.cost)}
          </span>
        </p>
      </div>
      {child && (
        <p className="session-status">
          <span className={`dot ${dot}`} aria-hidden="true" />
          {word}
        </p>
      )}
      {child && <StopChild id={child.id} task={task} status={child.status} />}
    </header>
  )
}
