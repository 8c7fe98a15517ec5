import { combineQueueEntriesToText, type LiveView } from '@holdfast/client'
import { type Meta, noWorkdir, type SessionView } from '@holdfast/protocol'
import { useId } from 'react'
import { FaultNote, StorageBar } from '../../ui/elements.tsx'
import type { DraftText } from '../state/draft-text.ts'
import type { Control } from '../state/session-context.ts'
import type { Commands } from '../state/use-commands.ts'
import type { Asked } from '../subagents/asked.ts'
import { AskedCard } from '../subagents/asked-card.tsx'
import { TrustBanner } from '../trust/trust-banner.tsx'
import { Composer } from './composer.tsx'
import { FolderForm } from './folder-form.tsx'
import { QueueView, whyNotRecalled } from './queue-view.tsx'

type DockProps = {
  readonly draft: DraftText
  readonly view: SessionView
  /** The approvals to answer here, those of subagents included. */
  readonly asked: readonly Asked[]
  readonly workspace: string
  /** The sessions in the list, whose folders are suggested. */
  readonly listed: readonly Meta[]
  readonly control: Control
  readonly commands: Commands
  readonly storageError: LiveView['storageError']
}

/** Approval, queue and composer. Disabled for viewers. */
export function Dock({ draft, view, asked, workspace, listed, control, commands, storageError }: DockProps) {
  const why = useId()
  const isWatching = control.watching !== null
  const hasFolder = workspace !== noWorkdir

  const recall = async () => {
    if (view.queue.length === 0 || whyNotRecalled(view.queue) !== undefined) return
    const entries = await commands.recall()
    if (entries.length > 0) draft.write(combineQueueEntriesToText([...entries, draft.current()]))
  }
  return (
    <div className="dock column">
      {storageError && <StorageBar error={storageError} />}
      <FaultNote fault={commands.fault} />
      {isWatching && <WatchBar id={why} control={control} onClaim={commands.claim} />}
      <fieldset
        className="dock-controls"
        aria-label="Controls"
        disabled={isWatching}
        aria-describedby={isWatching ? why : undefined}
        title={control.watching ?? undefined}
      >
        <TrustBanner workspace={workspace} />
        <AskedCard asked={asked} commands={commands} />
        <QueueView queue={view.queue} commands={commands} onRecall={recall} />
        {!hasFolder && <FolderForm known={listed.flatMap(folderOf)} onGive={commands.moveWorkdir} />}
        <Composer
          {...{ draft, view, commands, isWatching, hasFolder }}
          isStoreRefusing={storageError !== null}
          onRecall={recall}
        />
      </fieldset>
    </div>
  )
}

const folderOf = ({ workspace }: Meta): readonly string[] => (workspace === noWorkdir ? [] : [workspace])

type WatchBarProps = { readonly id: string; readonly control: Control; readonly onClaim: () => void }

/** Says that this page only watches, and offers control: a person may take it from another screen. */
function WatchBar({ id, control, onClaim }: WatchBarProps) {
  return (
    <div className="watch-bar" role="status">
      <p id={id}>{control.watching}</p>
      <button type="button" onClick={onClaim}>
        {control.driver === null ? 'Take control' : 'Take over'}
      </button>
    </div>
  )
}
