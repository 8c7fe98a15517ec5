import { escapeHidden, type ModelFault, type TurnEnd } from '@holdfast/protocol'

type TurnEndProps = {
  readonly reason: Exclude<TurnEnd, 'done'>
  readonly fault: ModelFault | null
  /** Why this page may not continue it, or null. */
  readonly watching: string | null
  readonly onContinue: () => void
}

const words: Record<TurnEndProps['reason'], string> = {
  aborted: 'Stopped. Everything so far is saved.',
  failed: 'The model could not answer.',
  interrupted: 'Interrupted: the server stopped during this turn. Nothing was restarted.',
  limit: 'This turn reached its limit of model calls.',
}

/** Says why a turn ended early, and offers to continue it. */
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
