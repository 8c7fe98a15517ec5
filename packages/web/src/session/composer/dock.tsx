import { combineQueueEntriesToText, type LiveView } from '@holdfast/client'
import type { SessionView } from '@holdfast/protocol'
import { useId } from 'react'
import { FaultNote, StorageBar } from '../../ui/elements.tsx'
import { ApprovalCard } from '../approval/approval-card.tsx'
import type { DraftText } from '../state/draft-text.ts'
import type { Control } from '../state/session-context.ts'
import type { Commands } from '../state/use-commands.ts'
import { Composer } from './composer.tsx'
import { holdsFile, QueueView } from './queue-view.tsx'

type DockProps = {
  readonly draft: DraftText
  readonly view: SessionView
  readonly control: Control
  readonly commands: Commands
  readonly storageError: LiveView['storageError']
}

/** Approval, queue and composer. Disabled for viewers. */
export function Dock({ draft, view, control, commands, storageError }: DockProps) {
  const why = useId()
  const [approval] = view.pendingApprovals
  const isWatching = control.watching !== null

  const recall = async () => {
    if (view.queue.length === 0 || holdsFile(view.queue)) return
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
        {approval && (
          <ApprovalCard
            key={approval.id}
            approval={approval}
            waiting={view.pendingApprovals.length - 1}
            onDecide={(decision, message) => commands.decide(approval.id, decision, message)}
          />
        )}
        <QueueView queue={view.queue} commands={commands} onRecall={recall} />
        <Composer
          {...{ draft, view, commands, isWatching }}
          isStoreRefusing={storageError !== null}
          onRecall={recall}
        />
      </fieldset>
    </div>
  )
}

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
