import { clip, escapeHidden, escapeLine, type Message } from '@holdfast/protocol'
import { memo } from 'react'
import { Markdown } from '../../markdown/markdown.tsx'
import { Fold } from '../../ui/fold.tsx'
import { CheckpointView } from './checkpoint-view.tsx'
import { PinButton } from './pin-button.tsx'
import { placeOf } from './show-message.ts'
import { ThinkingBlock } from './thinking-block.tsx'
import { ToolCard } from './tool-card.tsx'
import { TurnMenu } from './turn-menu.tsx'

type MessageViewProps = {
  readonly message: Message
  /** The prompt that started its turn. */
  readonly isOpening?: boolean
  readonly liveOutput?: string | undefined
}

/** Compared by identity: a changed message is a new object. */
export const MessageView = memo(function MessageView({ message, isOpening = false, liveOutput }: MessageViewProps) {
  switch (message.kind) {
    case 'user':
      return <UserMessage message={message} isOpening={isOpening} />
    case 'assistant':
      return (
        <div id={placeOf(message.id)} className={message.pinned ? 'said pinned' : 'said'} tabIndex={-1}>
          <PinButton message={message} />
          <article className="assistant prose" aria-label="Assistant">
            <Markdown text={message.text} />
            {message.interrupted && <p className="interrupted">interrupted</p>}
          </article>
        </div>
      )
    case 'thinking':
      return <ThinkingBlock text={message.text} isLive={false} message={message} />
    case 'tool_call':
      return <ToolCard message={message} liveOutput={liveOutput} />
    case 'system':
    case 'notice':
      if (message.kind === 'notice' && message.code === 'compacted') return <CheckpointView message={message} />
      return <Note message={message} />
    case 'usage':
      return null // shown at the end of the turn
  }
})

type UserMessageProps = { readonly message: Extract<Message, { readonly kind: 'user' }>; readonly isOpening: boolean }

/** Shows a person's text as it was written, without markdown. */
function UserMessage({ message, isOpening }: UserMessageProps) {
  const files = message.parts.flatMap((part) => (part.type === 'file' ? [part] : []))
  return (
    <div id={placeOf(message.id)} className={message.pinned ? 'user-row pinned' : 'user-row'} tabIndex={-1}>
      <article className="user" aria-label="You">
        <p dir="auto">{message.text}</p>
        {files.map((file) => (
          <p key={file.blob} className="file">
            {escapeLine(file.name ?? file.mediaType)}
          </p>
        ))}
      </article>
      <PinButton message={message} />
      {isOpening && <TurnMenu prompt={message} />}
    </div>
  )
}

type NoteProps = { readonly message: Extract<Message, { readonly kind: 'system' | 'notice' }> }

const noteCharsMax = 240

function Note({ message }: NoteProps) {
  const { text, level } = message
  const className = level === 'error' ? 'note bad' : 'note'
  if (text.length <= noteCharsMax && !text.includes('\n')) return <p className={className}>{escapeHidden(text)}</p>
  const head = `${clip(escapeLine(text), noteCharsMax)}…`
  return (
    <Fold className={className} label={head} isOpenAtFirst={false} head={<span>{head}</span>}>
      {() => <p className="note-text">{escapeHidden(text)}</p>}
    </Fold>
  )
}
