import { escapeLine, type Result } from '@holdfast/protocol'
import { useState } from 'react'
import { SessionItems } from '../../actions/session-items.tsx'
import { type KeyName, keyEntry } from '../../keys/key-table.ts'
import { keysOf } from '../../keys/match-key.ts'
import { runKey, useAvailableKeys } from '../../keys/use-key.ts'
import type { RelatedSession, RelatedSessions } from '../../list/related-sessions.ts'
import { useSmall } from '../../screens/use-narrow.ts'
import { Menu, MenuItem, MenuLabel, MenuLink, MenuSeparator } from '../../ui/menu.tsx'
import { hrefOf } from '../../ui/route.ts'
import { showToast } from '../../ui/toast.tsx'
import { useSession, whyHistoryLocked, whyReadOnly } from '../state/session-context.ts'

/** Offers actions on the whole session, and links to its parent and forks. */
export function SessionMenu({ related }: { readonly related: RelatedSessions }) {
  const { live, asks } = useSession()
  const [work, setWork] = useState<'Compacting' | 'Summarizing' | null>(null)
  const watching = whyReadOnly(live)
  const { meta } = live
  const hold = work === null ? whyHistoryLocked(live) : 'A summary is being written.'
  const hasTurns = useAvailableKeys().includes('previousTurn')
  const isSmall = useSmall()
  /** A phone has no such keys. */
  const hint = (name: KeyName) => (isSmall ? {} : { keys: keysOf(keyEntry(name).keys[0] ?? '').join('+') })
  const isAnyCollapsed = live.messages.some(({ kind, collapsed }) => kind === 'tool_call' && collapsed)

  const compact = async () => {
    setWork('Compacting')
    const refused = await asks.compact() // the dock shows why
    setWork(null)
    if (!refused) showToast({ text: 'The model now gets a summary. You can undo it in the transcript.' })
  }
  const summarize = async () => {
    setWork('Summarizing')
    const written: Result<string> = await asks.summarize()
    setWork(null)
    if (written.ok) showToast({ text: `The summary was saved to ${escapeLine(written.value)}.` })
  }
  return (
    <Menu
      label="This session"
      align="end"
      className="session-menu"
      trigger={
        <button type="button" className="quiet header-menu-button">
          {work === null ? 'More' : <span className="working">{work}</span>}
        </button>
      }
    >
      <MenuItem
        name="Compact"
        text="Replace old messages in the context by a summary"
        hold={hold}
        onChoose={() => void compact()}
      />
      <MenuItem
        name="Summarize"
        text="Save a summary as a file in the folder"
        hold={hold}
        onChoose={() => void summarize()}
      />
      <MenuItem
        name={isAnyCollapsed ? 'Expand all calls' : 'Collapse all calls'}
        hold={watching}
        onChoose={asks.toggleAllFolds}
      />
      {hasTurns && (
        <>
          <MenuItem name="Previous turn" {...hint('previousTurn')} onChoose={() => runKey('previousTurn')} />
          <MenuItem name="Next turn" {...hint('nextTurn')} onChoose={() => runKey('nextTurn')} />
        </>
      )}
      <MenuSeparator />
      {meta && <SessionItems target={meta} hasKeys={false} />}
      {related.parent && <Links title="Parent" sessions={[related.parent]} />}
      {related.forks.length > 0 && <Links title="Forks" sessions={related.forks} />}
    </Menu>
  )
}

const Links = ({ title, sessions }: { readonly title: string; readonly sessions: readonly RelatedSession[] }) => (
  <>
    <MenuSeparator />
    <MenuLabel>{title}</MenuLabel>
    {sessions.map(({ id, title }) => (
      <MenuLink key={id} href={hrefOf({ at: 'session', name: id })} name={title} />
    ))}
  </>
)
