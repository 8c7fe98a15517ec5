import type { Seat } from '../state/control.ts'

type WatchBarProps = { readonly id: string; readonly seat: Seat; readonly onClaim: () => void }

/** Tells one who only watches so, and offers the wheel while nobody has it. */
export function WatchBar({ id, seat, onClaim }: WatchBarProps) {
  return (
    <div className="watch-bar" role="status">
      <p id={id}>{seat.watching}</p>
      {seat.driver === null && (
        <button type="button" onClick={onClaim}>
          Take the wheel
        </button>
      )}
    </div>
  )
}
