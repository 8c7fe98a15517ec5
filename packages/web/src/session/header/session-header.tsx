import type { Connection } from '@holdfast/client'
import { escapeLine, listActiveTrust, type Meta, type ProcessView, type SessionView } from '@holdfast/protocol'
import { type RelatedSessions, titleOf } from '../../list/related-sessions.ts'
import { baseName, counted, modelText, statusText } from '../../text/format.ts'
import { ListButton } from '../../ui/elements.tsx'
import { hrefOf } from '../../ui/route.ts'
import type { Panel } from '../panel/use-panel.ts'
import type { Control } from '../state/session-context.ts'
import type { Commands } from '../state/use-commands.ts'
import { isAtWork, kindText } from '../subagents/child-text.ts'
import { useSubagents } from '../subagents/use-subagents.ts'
import { BranchesMenu } from './branches-menu.tsx'
import { HeaderActions } from './header-actions.tsx'
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
  return (
    <header className="session-header">
      <ListButton onOpen={onOpenList} />
      <div className="session-name">
        <h1 title={titleOf(meta)}>{titleOf(meta)}</h1>
        <p>
          <span title={escapeLine(meta.workspace)}>{escapeLine(baseName(meta.workspace)) || 'no folder'}</span>
          <span className="header-model">
            {modelText(view)}
            {view.thinkingLevel !== 'off' && ` · thinks ${view.thinkingLevel}`}
          </span>
          {related.parent && (
            <span className={meta.subagent ? 'header-above' : 'header-parent'}>
              {meta.subagent ? `${kindText(meta.subagent.agent)} of` : 'from'}{' '}
              <a href={hrefOf({ at: 'session', name: related.parent.id })}>{related.parent.title}</a>
            </span>
          )}
        </p>
      </div>
      <HeaderActions>
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
            said={`${counted(view.boundaries.length, 'edit boundary', 'edit boundaries')}, of as many files`}
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
      </HeaderActions>
      <PanelButton panel={panel} todos={view.todos} />
      <SessionStatus
        connection={connection}
        dot={isAsked ? 'asked' : view.status}
        word={isAsked ? askedText(control) : statusText(view.status)}
      />
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
      title="Changed files, tasks, subagents, skills and rules"
      onClick={panel.toggle}
    >
      <svg className="panel-icon" viewBox="0 0 16 16" aria-hidden="true">
        <path d="M2.500 3h11v10h-11zM10 3v10" />
      </svg>
      <span className="panel-word" aria-hidden="true">
        Files and tasks
      </span>
      <span className="hidden-text">Files and tasks</span>{' '}
      {todos.length > 0 && (
        <span className="panel-count">
          {`${done} of ${todos.length} tasks`}
          <span className="hidden-text"> done</span>
        </span>
      )}
    </button>
  )
}

/** Says whose answer the session waits for. */
const askedText = ({ watching, driver }: Control): string =>
  watching === null || driver === null ? 'Waiting for you' : 'Waiting for who has control'

type SessionStatusProps = { readonly connection: Connection; readonly dot: string; readonly word: string }

/** Shows the status of the session. While the connection is lost it is unknown, so only the loss is shown. */
export function SessionStatus({ connection: { state }, dot, word }: SessionStatusProps) {
  // A snapshot is on screen, so `connecting` is a reconnect. Once it has ended, the notice in the place of the input says why.
  const isLost = state === 'connecting' || state === 'waiting'
  return (
    <p className="session-status">
      {isLost ? (
        <span className="connection bad">connection lost</span>
      ) : (
        <>
          <span className={`dot ${dot}`} aria-hidden="true" />
          <span className="status-word">{word}</span>
        </>
      )}
    </p>
  )
}
