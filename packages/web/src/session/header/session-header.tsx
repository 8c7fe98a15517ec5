import type { Connection } from '@holdfast/client'
import { escapeLine, listActiveTrust, type Meta, type ProcessView, type SessionView } from '@holdfast/protocol'
import type { RelatedSessions } from '../../list/related-sessions.ts'
import { baseName } from '../../text/base-name.ts'
import { modelText } from '../../text/model-text.ts'
import { statusText } from '../../text/status-text.ts'
import { costText, tokensText, usageText } from '../../text/usage-text.ts'
import { ListButton } from '../../ui/list-button.tsx'
import { hrefOf } from '../../ui/route.ts'
import type { Control } from '../state/control.ts'
import type { Commands } from '../state/use-commands.ts'
import { AttachedMenu } from './attached-menu.tsx'
import { BranchesMenu } from './branches-menu.tsx'
import { ContextGauge } from './context-gauge.tsx'
import { SessionMenu } from './session-menu.tsx'
import { TrustMenu } from './trust-menu.tsx'

type SessionHeaderProps = {
  readonly meta: Meta
  readonly view: SessionView
  readonly connection: Connection
  readonly control: Control
  readonly commands: Pick<Commands, 'revokeTrust' | 'handOver'>
  readonly related: RelatedSessions
  readonly here: ProcessView | null
  readonly onOpenList: () => void
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
}: SessionHeaderProps) {
  const isAsked = view.pendingApprovals.length > 0
  const { usage } = meta
  return (
    <header className="session-header">
      <ListButton onOpen={onOpenList} />
      <div className="session-name">
        <h1 title={escapeLine(meta.title)}>{escapeLine(meta.title) || 'New session'}</h1>
        <p>
          <span title={escapeLine(meta.workspace)}>{escapeLine(baseName(meta.workspace))}</span>
          <span className="header-model">
            {modelText(view)}
            {view.thinkingLevel !== 'off' && ` · thinks ${view.thinkingLevel}`}
          </span>
          <span className="header-usage" title={usageText(usage)}>
            {tokensText(usage.input + usage.output + usage.cacheRead + usage.cacheWrite)} tokens ·{' '}
            {costText(usage.cost)}
          </span>
          <ContextGauge view={view} here={here} />
          {related.parent && (
            <span className="header-parent">
              from <a href={hrefOf({ at: 'session', name: related.parent.id })}>{related.parent.title}</a>
            </span>
          )}
        </p>
      </div>
      <BranchesMenu view={view} turns={meta.turnCount} messages={meta.messageCount} />
      <TrustMenu trust={listActiveTrust({ view, here })} watching={control.watching} onRevoke={commands.revokeTrust} />
      <AttachedMenu control={control} onHandOver={commands.handOver} />
      <SessionMenu related={related} />
      <p className="session-status" role="status">
        <ConnectionWord connection={connection} />
        <span className={`dot ${isAsked ? 'asked' : view.status}`} aria-hidden="true" />
        <span className="status-word">{isAsked ? askedText(control) : statusText(view.status)}</span>
      </p>
    </header>
  )
}

/** Says whose answer the session waits for. */
const askedText = ({ watching, driver }: Control): string =>
  watching === null ? 'Waiting for you' : driver === null ? 'Waiting for a driver' : 'Waiting for the driver'

type ConnectionWordProps = { readonly connection: Connection }

/** Shows connection problems only. */
function ConnectionWord({ connection }: ConnectionWordProps) {
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
