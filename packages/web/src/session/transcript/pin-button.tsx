import type { Message } from '@holdfast/protocol'
import { useContext } from 'react'
import { useSession, WatchingContext } from '../state/session-context.ts'

type PinButtonProps = { readonly message: Message }

/** Pins a message to the model's context, or unpins it. */
export function PinButton({ message: { id, pinned } }: PinButtonProps) {
  const { asks } = useSession()
  const watching = useContext(WatchingContext)
  return (
    <button
      type="button"
      className="quiet icon-button pin-button"
      aria-label="Pin"
      aria-pressed={pinned}
      title={watching ?? (pinned ? 'Unpin: no longer always in the context' : 'Pin: always keep in the context')}
      disabled={watching !== null}
      onClick={() => asks.togglePin(id)}
    >
      <PinMark />
    </button>
  )
}

export const PinMark = () => (
  <svg className="pin-mark" viewBox="0 0 16 16" aria-hidden="true">
    <path d="M5.500 2.500h5M6.500 2.500v4.250L4 9.500h8L9.500 6.750V2.500M8 9.500v4.250" />
  </svg>
)
