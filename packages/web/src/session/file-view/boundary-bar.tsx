import { type Fault, type LineRange, linesText } from '@holdfast/protocol'
import { useContext, useState } from 'react'
import { FaultNote } from '../../ui/elements.tsx'
import { useSession, WatchingContext } from '../state/session-context.ts'
import { type LineSelection, rangeOf, typeLine } from './line-selection.ts'

type BoundaryBarProps = {
  readonly path: string
  /** How many lines the file has. */
  readonly lines: number
  readonly boundary: LineRange | null
  readonly chosen: LineSelection | null
  readonly onChoose: (chosen: LineSelection | null) => void
}

/** Sets the chosen lines as the edit boundary of the file, or clears it. */
export function BoundaryBar({ path, lines, boundary, chosen, onChoose }: BoundaryBarProps) {
  const { asks } = useSession()
  const watching = useContext(WatchingContext)
  const [fault, setFault] = useState<Fault | null>(null)
  const range = chosen && rangeOf(chosen)
  const set = async () => {
    const refused = range && (await asks.setBoundary(path, range))
    setFault(refused)
    if (!refused) onChoose(null)
  }
  const type = (which: 'first' | 'last') => (typed: string) => onChoose(typeLine(chosen, which, typed, lines))
  return (
    <>
      <FaultNote fault={fault} />
      <p role="status">
        {range
          ? `Chosen: ${linesText(range)}.`
          : boundary
            ? `The agent may change only ${linesText(boundary)}.`
            : 'The agent may change any line. Choose lines to limit it.'}
        {!range && <span className="file-hint"> {hint}</span>}
      </p>
      <span className="line-numbers">
        <LineNumber label="From line" line={range?.start ?? null} lines={lines} onType={type('first')} />
        <LineNumber label="to line" line={range?.end ?? null} lines={lines} onType={type('last')} />
      </span>
      {boundary && (
        <button type="button" disabled={watching !== null} onClick={() => asks.clearBoundary(path)}>
          Clear boundary
        </button>
      )}
      <button
        type="button"
        className="primary"
        disabled={range === null || watching !== null}
        title={watching ?? undefined}
        onClick={set}
      >
        Allow only these lines
      </button>
    </>
  )
}

const hint = 'Tap or click the first line, then tap or Shift+click the last; or use the arrow keys with Shift.'

type LineNumberProps = {
  readonly label: string
  /** Counted from 0; null if none is chosen. */
  readonly line: number | null
  readonly lines: number
  readonly onType: (typed: string) => void
}

/** A line number, from 1. Applied on blur or Enter, not while typing. */
function LineNumber({ label, line, lines, onType }: LineNumberProps) {
  // Null: the field shows the chosen line.
  const [typed, setTyped] = useState<string | null>(null)
  const apply = () => {
    if (typed !== null && typed !== '') onType(typed)
    setTyped(null)
  }
  return (
    <label>
      {label}
      <input
        type="number"
        inputMode="numeric"
        min={1}
        max={lines}
        value={typed ?? (line === null ? '' : line + 1)}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onFocus={(event) => event.currentTarget.select()}
        onBlur={apply}
        onKeyDown={(event) => event.key === 'Enter' && apply()}
      />
    </label>
  )
}
