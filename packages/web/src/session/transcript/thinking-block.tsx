import { firstLine, type Message } from '@holdfast/protocol'
import { Fold } from '../../ui/fold.tsx'
import { PinButton, PinMark } from './pin-button.tsx'
import { placeOf } from './show-message.ts'

type ThinkingBlockProps = {
  readonly text: string
  readonly isLive: boolean
  /** The recorded message; absent while it streams. */
  readonly message?: Extract<Message, { readonly kind: 'thinking' }>
}

export function ThinkingBlock({ text, isLive, message }: ThinkingBlockProps) {
  const said = isLive ? 'Thinking' : message?.interrupted ? 'Thought, interrupted' : 'Thought'
  return (
    <Fold
      className="thinking"
      {...(message && { place: placeOf(message.id) })}
      label={said}
      isOpenAtFirst={isLive}
      head={
        <>
          <span className={isLive ? 'thinking-word working' : 'thinking-word'}>{said}</span>
          <span className="fold-peek">{firstLine(text, 120)}</span>
          {message?.pinned && <PinMark />}
        </>
      }
    >
      {() => (
        <>
          <p className="thinking-text" dir="auto">
            {text.trim()}
          </p>
          {message && <PinButton message={message} />}
        </>
      )}
    </Fold>
  )
}
