import { escapeHidden, type Message } from '@holdfast/protocol'
import { Fold } from '../../ui/fold.tsx'
import { holdOf, useLive, useSession } from '../state/session-context.ts'

type CheckpointViewProps = { readonly message: Extract<Message, { readonly kind: 'notice' }> }

/** Where the past was summed up for the model. The transcript stays whole, and the one that holds can be undone. */
export function CheckpointView({ message: { id, text } }: CheckpointViewProps) {
  const { asks } = useSession()
  const holding = useLive(({ view }) => view?.checkpoint ?? null)
  const hold = useLive(holdOf)
  const holds = holding === id
  return (
    <section className={holds ? 'checkpoint holds' : 'checkpoint'} aria-label="Checkpoint">
      <p className="checkpoint-line">
        <span>{wordsOf(holds, holding, id)}</span>
        {holds && (
          <button
            type="button"
            disabled={hold !== null}
            title={hold ?? 'Tell the model everything above again'}
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

/** The last messages before a checkpoint are kept as they were said, so it does not claim everything. */
function wordsOf(holds: boolean, holding: number | null, id: number): string {
  if (holds) return 'The model sees a summary of what is above, and the last messages as they were'
  if (holding !== null && holding > id) return 'Summed up here; a later summary took its place'
  return 'Summed up here, and undone: the model sees what is above again'
}
