import { type Connection, contextUsageOf } from '@holdfast/client'
import { escapeLine, limits, listActiveTrust, type Meta, type ProcessView, type SessionView } from '@holdfast/protocol'
import type { RelatedSessions } from '../../list/related-sessions.ts'
import {
  baseName,
  contextHint,
  contextShort,
  contextSpoken,
  costText,
  counted,
  modelText,
  statusText,
  tokensOf,
  tokensText,
  usageText,
} from '../../text/format.ts'
import { ListButton } from '../../ui/elements.tsx'
import { hrefOf } from '../../ui/route.ts'
import type { Panel } from '../panel/use-panel.ts'
import type { Control } from '../state/session-context.ts'
import type { Commands } from '../state/use-commands.ts'
import { isAtWork, kindText } from '../subagents/child-text.ts'
import { useSubagents } from '../subagents/use-subagents.ts'
import { BranchesMenu } from './branches-menu.tsx'
import { AttachedMenu, TrustMenu } from './header-menus.tsx'
import { PanelLink } from './panel-link.tsx'
import { SessionMenu } from './session-menu.tsx'

type SessionHeaderProps = {
  readonly meta: Meta
  readonly view: SessionView
  readonly connection: Connection
  readonly control: Control
  readonly commands: Pick<Commands, 'revokeTrust' | 'handOver'>
  readonly related: RelatedSessions
  readonly here: ProcessView | null
  readonly onOpenList: () => void
  readonly panel: Panel
  /** How many commands run in the background. */
  readonly shells: number
  /** Whether an approval waits, also one of a subagent. */
  readonly isAsked: boolean
}

export function SessionHeader({
  meta,
  view,
  connection,
  control,
  commands,
  related,
  here,
  onOpenList,
  panel,
  shells,
  isAsked,
}: SessionHeaderProps) {
  const { usage } = meta
  return (
    <header className="session-header">
      <ListButton onOpen={onOpenList} />
      <div className="session-name">
        <h1 title={escapeLine(meta.title)}>{escapeLine(meta.title) || 'New session'}</h1>
        <p>
          <span title={escapeLine(meta.workspace)}>{escapeLine(baseName(meta.workspace)) || 'no folder'}</span>
          <span className="header-model">
            {modelText(view)}
            {view.thinkingLevel !== 'off' && ` · thinks ${view.thinkingLevel}`}
          </span>
          <span className="header-usage" title={usageText(usage)}>
            {tokensText(tokensOf(usage))} tokens · {costText(usage.cost)}
          </span>
          <ContextGauge view={view} here={here} />
          {related.parent && (
            <span className={meta.subagent ? 'header-above' : 'header-parent'}>
              {meta.subagent ? `${kindText(meta.subagent.agent)} of` : 'from'}{' '}
              <a href={hrefOf({ at: 'session', name: related.parent.id })}>{related.parent.title}</a>
            </span>
          )}
        </p>
      </div>
      <div className="header-actions">
        <BranchesMenu view={view} turns={meta.turnCount} messages={meta.messageCount} />
        <TrustMenu
          trust={listActiveTrust({ view, here })}
          watching={control.watching}
          onRevoke={commands.revokeTrust}
        />
        <AttachedMenu control={control} onHandOver={commands.handOver} />
        <SessionMenu related={related} />
        {view.boundaries.length > 0 && (
          <PanelLink
            panel={panel}
            part="boundaries"
            label={counted(view.boundaries.length, 'edit boundary', 'edit boundaries')}
            said={`${counted(view.boundaries.length, 'file')} with an edit boundary`}
          />
        )}
        <SubagentsLink panel={panel} />
        {shells > 0 && (
          <PanelLink
            panel={panel}
            part="shells"
            label={counted(shells, 'command')}
            said={`${counted(shells, 'command')} in the background`}
            isLive
          />
        )}
        <PanelButton panel={panel} todos={view.todos} />
      </div>
      <p className="session-status" role="status">
        <ConnectionWord connection={connection} />
        <span className={`dot ${isAsked ? 'asked' : view.status}`} aria-hidden="true" />
        <span className="status-word">{isAsked ? askedText(control) : statusText(view.status)}</span>
      </p>
    </header>
  )
}

/** Leads to the subagents that work now. */
function SubagentsLink({ panel }: { readonly panel: Panel }) {
  const { children } = useSubagents()
  const running = children.filter(({ status }) => isAtWork(status)).length
  if (running === 0) return null
  const label = counted(running, 'subagent')
  return <PanelLink panel={panel} part="subagents" label={label} said={`${label} at work`} isLive />
}

/** Shows or hides the panel, and how far the tasks are. */
function PanelButton({ panel, todos }: { readonly panel: Panel; readonly todos: SessionView['todos'] }) {
  const done = todos.filter(({ status }) => status === 'done').length
  return (
    <button
      type="button"
      className="quiet header-menu-button"
      aria-expanded={panel.isOpen}
      aria-controls={panel.id}
      aria-label={`Panel${todos.length > 0 ? `, ${done} of ${todos.length} tasks done` : ''}`}
      title="Tasks, files and rules"
      onClick={panel.toggle}
    >
      Panel
      {todos.length > 0 && <span className="panel-count">{`${done} of ${todos.length} tasks`}</span>}
    </button>
  )
}

/** Says whose answer the session waits for. */
const askedText = ({ watching, driver }: Control): string =>
  watching === null ? 'Waiting for you' : driver === null ? 'Waiting for a driver' : 'Waiting for the driver'

/** Shows connection problems only. */
function ConnectionWord({ connection }: { readonly connection: Connection }) {
  switch (connection.state) {
    case 'live':
      return null
    case 'connecting': // a snapshot is on screen, so this is a reconnect
    case 'waiting':
      return <span className="connection">reconnecting…</span>
    case 'ended':
      return (
        <span className="connection bad">
          {connection.fault ? escapeLine(connection.fault.message) : 'disconnected'}
        </span>
      )
  }
}

type ContextGaugeProps = {
  readonly view: SessionView
  /** Null when the session is not running here. */
  readonly here: ProcessView | null
}

/** Shows how full the context is. Above the mark old messages are summarized automatically. */
function ContextGauge({ view, here }: ContextGaugeProps) {
  if (here === null) return <span className="gauge">{tokensText(view.tokens)} in context</span>
  const context = contextUsageOf({ view, here })
  const { tokens, contextTokens } = context
  const max = contextTokens ?? limits.contextTokens
  return (
    <span className="gauge" title={contextHint(context)}>
      <meter
        aria-label="Context"
        aria-valuetext={contextSpoken(context)}
        min={0}
        max={max}
        optimum={0}
        high={max * limits.compactAt}
        value={Math.min(tokens, max)}
      />
      <span>{contextShort(context)}</span>
    </span>
  )
}
