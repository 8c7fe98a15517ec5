import { escapeLine, type Fault } from '@holdfast/protocol'
import { type ReactNode, useState } from 'react'
import { useActions } from '../../actions/actions.tsx'
import type { RelatedSession, RelatedSessions } from '../../list/related-sessions.ts'
import { FaultNote } from '../../ui/elements.tsx'
import { HeaderMenu } from '../../ui/popover.tsx'
import { goTo, hrefOf } from '../../ui/route.ts'
import { controlOf, useSession, whyHistoryLocked, whyReadOnly } from '../state/session-context.ts'

type Work =
  | { readonly at: 'rest' }
  | { readonly at: 'compacting' | 'summarizing' }
  | { readonly at: 'compacted' }
  | { readonly at: 'summarized'; readonly path: string }

/** Offers actions on the whole session, and links to its parent and forks. */
export function SessionMenu({ related }: { readonly related: RelatedSessions }) {
  const { live, asks } = useSession()
  const actions = useActions()
  const [work, setWork] = useState<Work>({ at: 'rest' })
  const [fault, setFault] = useState<Fault | null>(null)
  const isWorking = work.at === 'compacting' || work.at === 'summarizing'
  const watching = whyReadOnly(live)
  const { meta } = live
  const lost = controlOf(live).isLost ? watching : null
  const hold = isWorking ? 'A summary is being written.' : whyHistoryLocked(live)
  const isAnyCollapsed = live.messages.some(({ kind, collapsed }) => kind === 'tool_call' && collapsed)

  const compact = async () => {
    setWork({ at: 'compacting' })
    const refused = await asks.compact()
    setFault(refused)
    setWork({ at: refused ? 'rest' : 'compacted' })
  }
  const summarize = async () => {
    setWork({ at: 'summarizing' })
    const written = await asks.summarize()
    setFault(written.ok ? null : written.fault)
    setWork(written.ok ? { at: 'summarized', path: written.value } : { at: 'rest' })
  }
  const fork = async () => {
    const made = await asks.fork()
    setFault(made.ok ? null : made.fault)
    if (made.ok) goTo({ at: 'session', name: made.value })
  }
  return (
    <HeaderMenu label={isWorking ? <span className="working">{words[work.at]}</span> : 'More'} title="This session">
      <FaultNote fault={fault} />
      <p className="menu-result" role="status">
        <WorkText work={work} />
      </p>
      <div className="menu-choices">
        <MenuChoice hold={hold} title="Replace old messages in the context by a summary" onChoose={compact}>
          Compact
        </MenuChoice>
        <MenuChoice hold={hold} title="Write a summary of the session to a file in the folder" onChoose={summarize}>
          Summarize
        </MenuChoice>
        <MenuChoice hold={watching} title="Start a new session with the same history" onChoose={fork}>
          Fork
        </MenuChoice>
        <MenuChoice hold={watching} title="All tool calls" onChoose={asks.toggleAllFolds}>
          {isAnyCollapsed ? 'Expand all calls' : 'Collapse all calls'}
        </MenuChoice>
        {meta && (
          <>
            <MenuChoice hold={lost} title="Give it another title" onChoose={() => actions.askName(meta)}>
              Rename…
            </MenuChoice>
            <MenuChoice hold={lost} title="Pinned sessions are listed first" onChoose={() => actions.pin(meta)}>
              {meta.pinned ? 'Unpin' : 'Pin'}
            </MenuChoice>
            <MenuChoice hold={lost} title="Save it as a file" onChoose={() => actions.askFormat(meta)}>
              Export…
            </MenuChoice>
            {actions.mayShare && (
              <MenuChoice
                hold={lost}
                title="Create a link that shows this session, read-only"
                onChoose={() => actions.openShare(meta)}
              >
                Share…
              </MenuChoice>
            )}
            <MenuChoice hold={lost} title="It can be restored for 30 days" onChoose={() => actions.remove(meta)}>
              Move to the trash
            </MenuChoice>
          </>
        )}
      </div>
      {related.parent && <Links title="Parent" sessions={[related.parent]} />}
      {related.forks.length > 0 && <Links title="Forks" sessions={related.forks} />}
    </HeaderMenu>
  )
}

const words = { compacting: 'Compacting', summarizing: 'Summarizing' } as const

function WorkText({ work }: { readonly work: Work }) {
  switch (work.at) {
    case 'rest':
      return null
    case 'compacting':
    case 'summarizing':
      return <span className="working">{words[work.at]}</span>
    case 'compacted':
      return 'The model now gets a summary. You can undo it in the transcript.'
    case 'summarized':
      return (
        <>
          The summary was saved to <code>{escapeLine(work.path)}</code>.
        </>
      )
  }
}

type MenuChoiceProps = {
  readonly hold: string | null
  readonly title: string
  readonly onChoose: () => void
  readonly children: ReactNode
}

function MenuChoice({ hold, title, onChoose, children }: MenuChoiceProps) {
  return (
    <button type="button" disabled={hold !== null} title={hold ?? title} onClick={onChoose}>
      {children}
    </button>
  )
}

function Links({ title, sessions }: { readonly title: string; readonly sessions: readonly RelatedSession[] }) {
  return (
    <section className="relatives" aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {sessions.map(({ id, title }) => (
          <li key={id}>
            <a href={hrefOf({ at: 'session', name: id })}>{title}</a>
          </li>
        ))}
      </ul>
    </section>
  )
}
