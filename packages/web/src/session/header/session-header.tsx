import type { Connection } from '@holdfast/client'
import { escapeLine, listActiveTrust, type Meta, type ProcessView, type SessionView } from '@holdfast/protocol'
import type { Kin } from '../../list/kin.ts'
import { baseName } from '../../text/base-name.ts'
import { modelText } from '../../text/model-text.ts'
import { statusText } from '../../text/status-text.ts'
import { costText, tokensText, usageText } from '../../text/usage-text.ts'
import { ListButton } from '../../ui/list-button.tsx'
import { hrefOf } from '../../ui/route.ts'
import type { Seat } from '../state/control.ts'
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
  readonly seat: Seat
  readonly commands: Pick<Commands, 'revokeTrust' | 'handOver'>
  readonly kin: Kin
  readonly here: ProcessView | null
  readonly onOpenList: () => void
}

export function SessionHeader({ meta, view, connection, seat, commands, kin, here, onOpenList }: SessionHeaderProps) {
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
          {kin.parent && (
            <span className="header-parent">
              from <a href={hrefOf({ at: 'session', name: kin.parent.id })}>{kin.parent.title}</a>
            </span>
          )}
        </p>
      </div>
      <BranchesMenu view={view} turns={meta.turnCount} messages={meta.messageCount} />
      <TrustMenu trust={listActiveTrust({ view, here })} watching={seat.watching} onRevoke={commands.revokeTrust} />
      <AttachedMenu seat={seat} onHandOver={commands.handOver} />
      <SessionMenu kin={kin} />
      <p className="session-status" role="status">
        <ConnectionWord connection={connection} />
        <span className={`dot ${isAsked ? 'asked' : view.status}`} aria-hidden="true" />
        <span className="status-word">{isAsked ? askedText(seat) : statusText(view.status)}</span>
      </p>
    </header>
  )
}

/** Whose answer the session waits for. */
const askedText = ({ watching, driver }: Seat): string =>
  watching === null ? 'Waiting for you' : driver === null ? 'Waiting for a driver' : 'Waiting for the driver'

type ConnectionWordProps = { readonly connection: Connection }

/** Silent while all is well. */
function ConnectionWord({ connection }: ConnectionWordProps) {
  switch (connection.state) {
    case 'live':
      return null
    case 'connecting': // there was a snapshot to draw this from, so it is not the first time
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
