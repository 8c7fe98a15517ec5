import { escapeHidden, type Message } from '@holdfast/protocol'
import { Fold } from '../../ui/fold.tsx'
import { holdOf, useLive, useSession } from '../state/session-context.ts'

type CheckpointViewProps = { readonly message: Extract<Message, { readonly kind: 'notice' }> }

/** Shows a compaction. The active one can be undone. */
export function CheckpointView({ message: { id, text } }: CheckpointViewProps) {
  const { asks } = useSession()
  const holding = useLive(({ view }) => view?.checkpoint ?? null)
  const hold = useLive(holdOf)
  const holds = holding === id
  return (
    <section className={holds ? 'checkpoint holds' : 'checkpoint'} aria-label="Checkpoint">
      <p className="checkpoint-line">
        <span>{headingOf(holds, holding, id)}</span>
        {holds && (
          <button
            type="button"
            disabled={hold !== null}
            title={hold ?? 'Give the model all messages above again'}
            onClick={asks.undoCompaction}
          >
            Undo
          </button>
        )}
      </p>
      {text !== '' && (
        <Fold className="note" label="Summary" isOpenAtFirst={false} head={<span>Summary</span>}>
          {() => (
            <p className="note-text" dir="auto">
              {escapeHidden(text)}
            </p>
          )}
        </Fold>
      )}
    </section>
  )
}

/** Returns the heading. The last messages before a checkpoint stay in the context in full. */
function headingOf(holds: boolean, holding: number | null, id: number): string {
  if (holds) return 'The model gets a summary of the messages above, and the last ones in full'
  if (holding !== null && holding > id) return 'Summarized here; replaced by a later summary'
  return 'Summarized here, then undone: the model gets the messages above'
}
