import { type Message, MessageId, type SessionHandle, type SessionView } from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { messageText } from '../../text/message-text.ts'
import { useSession } from '../state/session-context.ts'
import { PinMark } from './pin-button.tsx'
import { showMessage } from './show-message.ts'

type PinnedStripProps = { readonly view: SessionView }

/** Links to the pinned messages of this line. Hidden while there are none. */
export function PinnedStrip({ view }: PinnedStripProps) {
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
