import type { Fault } from '@holdfast/protocol'
import { useState } from 'react'
import { attempt, useServer } from '../models/server-context.ts'
import { useIsLost } from '../screens/use-screens.ts'
import { counted } from '../text/format.ts'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { FaultNote } from '../ui/elements.tsx'
import { showToast } from '../ui/toast.tsx'
import { Section } from './section.tsx'

type Asked = { readonly what: 'prune' | 'empty'; readonly count: number }

/** Moves inactive sessions to the trash, and empties it. Both say first how many sessions they mean. */
export function RetentionSection() {
  const { holdfast } = useServer()
  const isLost = useIsLost()
  const [days, setDays] = useState('30')
  const [asked, setAsked] = useState<Asked | null>(null)
  const [fault, setFault] = useState<Fault | null>(null)
  const run = (what: Asked['what'], dryRun: boolean) =>
    what === 'prune'
      ? holdfast.handles.prune({ before: new Date(Date.now() - Number(days) * dayMs).toISOString(), dryRun })
      : holdfast.handles.emptyTrash({ dryRun })
  const ask = async (what: Asked['what']) => {
    const found = await attempt(async () => run(what, true)).then((tried) => (tried.ok ? tried.value : tried))
    setFault(found.ok ? null : found.fault)
    if (found.ok) setAsked({ what, count: found.value.count })
  }
  const confirm = async ({ what }: Asked) => {
    const done = await run(what, false)
    setFault(done.ok ? null : done.fault)
    if (done.ok)
      showToast({
        text: `${counted(done.value.count, 'session')} ${what === 'prune' ? 'moved to the trash' : 'deleted'}.`,
      })
  }
  return (
    <Section
      title="Retention"
      text="Sessions move to the trash only if you move them, or if the server was started with --retention; pinned ones stay. The trash deletes them after 30 days."
    >
      <FaultNote fault={fault} />
      <div className="switch-row">
        <label className="retention-days">
          Move sessions to the trash that were inactive for
          <input
            type="number"
            min={1}
            max={3650}
            value={days}
            onChange={(event) => setDays(event.target.value)}
            aria-label="Days"
          />
          days
        </label>
        <button type="button" disabled={!(Number(days) >= 1)} onClick={() => void ask('prune')}>
          Move to trash…
        </button>
      </div>
      <div className="switch-row">
        <span>Delete what is in the trash</span>
        <button type="button" onClick={() => void ask('empty')}>
          Empty trash…
        </button>
      </div>
      {asked !== null && (
        <ConfirmDialog
          title={asked.what === 'prune' ? 'Move inactive sessions to the trash?' : 'Empty the trash?'}
          confirm={asked.what === 'prune' ? 'Move to trash' : 'Delete permanently'}
          isDanger={asked.what === 'empty'}
          isOff={isLost}
          onConfirm={() => void confirm(asked)}
          onClose={() => setAsked(null)}
        >
          {asked.what === 'prune'
            ? `${counted(asked.count, 'session')} will move. You can restore them from the trash.`
            : `${counted(asked.count, 'session')} will be deleted. This cannot be undone.`}
        </ConfirmDialog>
      )}
    </Section>
  )
}

const dayMs = 24 * 60 * 60 * 1000
