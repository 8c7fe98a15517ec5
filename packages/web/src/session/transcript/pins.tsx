import { type Message, MessageId, type SessionHandle, type SessionView } from '@holdfast/protocol'
import { useContext, useEffect, useState } from 'react'
import { messageText } from '../../text/message-text.ts'
import { ShownOnlyContext, useSession, WatchingContext } from '../state/session-context.ts'
import { showMessage } from './show-message.ts'

/** Pins a message to the model's context, or unpins it. */
export function PinButton({ message: { id, pinned } }: { readonly message: Message }) {
  const { asks } = useSession()
  const watching = useContext(WatchingContext)
  if (useContext(ShownOnlyContext)) return null
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

/** Links to the pinned messages of this line. Hidden while there are none. */
export function PinnedStrip({ view }: { readonly view: SessionView }) {
  const { live } = useSession()
  const pinned = usePinned(view)
  if (pinned.length === 0) return null
  return (
    <nav className="pinned-strip" aria-label="Pinned messages">
      <ul>
        {pinned.map((message) => (
          <li key={message.id}>
            <button type="button" className="quiet" onClick={() => showMessage(live, message.id)}>
              <PinMark />
              <span dir="auto">{messageText(message)}</span>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** Loads the pinned messages of this line, in order. */
function usePinned({ pins, branches }: SessionView): readonly Message[] {
  const { handle, live } = useSession()
  const [found, setFound] = useState<readonly Message[]>([])
  // biome-ignore lint/correctness/useExhaustiveDependencies: pins differ by line
  useEffect(() => {
    let isLeft = false
    const known = new Map(live.messages.map((message) => [message.id, message]))
    const look = pins.toSorted((left, right) => left - right).map((id) => known.get(id) ?? readMessage(handle, id))
    Promise.all(look).then((messages) => {
      if (!isLeft) setFound(messages.filter((message) => message !== null))
    })
    return () => {
      isLeft = true
    }
  }, [handle, live, pins, branches])
  return found
}

/** Returns a message of the line, or null. */
async function readMessage(handle: SessionHandle, id: MessageId): Promise<Message | null> {
  const page = await handle.page({ before: MessageId.parse(id + 1), limit: 1 })
  return (page.ok && page.value.messages.find((message) => message.id === id)) || null
}
