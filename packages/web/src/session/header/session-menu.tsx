import { escapeLine, type Fault } from '@holdfast/protocol'
import { type ReactNode, useState } from 'react'
import type { RelatedSession, RelatedSessions } from '../../list/related-sessions.ts'
import { FaultNote } from '../../ui/elements.tsx'
import { HeaderMenu } from '../../ui/header-menu.tsx'
import { goTo, hrefOf } from '../../ui/route.ts'
import { useSession, whyHistoryLocked, whyReadOnly } from '../state/session-context.ts'
import { ShareDialog, useMayShare } from './share-dialog.tsx'

type Work =
  | { readonly at: 'rest' }
  | { readonly at: 'compacting' | 'summarizing' }
  | { readonly at: 'compacted' }
  | { readonly at: 'summarized'; readonly path: string }

/** Offers actions on the whole session, and links to its parent and forks. */
export function SessionMenu({ related }: { readonly related: RelatedSessions }) {
  const { handle, live, asks } = useSession()
  const mayShare = useMayShare()
  const [isSharing, setSharing] = useState(false)
  const [work, setWork] = useState<Work>({ at: 'rest' })
  const [fault, setFault] = useState<Fault | null>(null)
  const isWorking = work.at === 'compacting' || work.at === 'summarizing'
  const watching = whyReadOnly(live)
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
        {mayShare && (
          <MenuChoice
            hold={null}
            title="Create a link that shows this session, read-only"
            onChoose={() => setSharing(true)}
          >
            Share…
          </MenuChoice>
        )}
      </div>
      {isSharing && <ShareDialog session={handle.id} onClose={() => setSharing(false)} />}
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
