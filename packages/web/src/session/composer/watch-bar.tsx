import type { Control } from '../state/control.ts'

type WatchBarProps = { readonly id: string; readonly control: Control; readonly onClaim: () => void }

/** Says that this page only watches, and offers control while there is no driver. */
export function WatchBar({ id, control, onClaim }: WatchBarProps) {
  return (
    <div className="watch-bar" role="status">
      <p id={id}>{control.watching}</p>
      {control.driver === null && (
        <button type="button" onClick={onClaim}>
          Take control
        </button>
      )}
    </div>
  )
}
