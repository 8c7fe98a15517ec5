import { escapeHidden, type ModelFault, type TurnEnd } from '@holdfast/protocol'

type TurnEndProps = {
  readonly reason: Exclude<TurnEnd, 'done'>
  readonly fault: ModelFault | null
  /** Why this page may not go on with it, or null. */
  readonly watching: string | null
  readonly onContinue: () => void
}

const words: Record<TurnEndProps['reason'], string> = {
  aborted: 'Stopped. What was said and done so far is kept.',
  failed: 'The model could not answer.',
  interrupted: 'Interrupted: the server stopped in the middle of this turn. Nothing was started again by itself.',
  limit: 'This turn reached its limit of model calls.',
}

/** How a turn came to an early end, in one clear sentence, with the way on. */
export function TurnEndView({ reason, fault, watching, onContinue }: TurnEndProps) {
  return (
    <div className={reason === 'failed' ? 'turn-end bad' : 'turn-end'} role="status">
      <p>{fault ? escapeHidden(fault.message) : words[reason]}</p>
      <button type="button" disabled={watching !== null} title={watching ?? undefined} onClick={onContinue}>
        Continue
      </button>
    </div>
  )
}
