import { clip, escapeHidden, escapeLine, type Message } from '@holdfast/protocol'
import { memo } from 'react'
import { Markdown } from '../markdown/markdown.tsx'
import { Fold } from './fold.tsx'
import { ThinkingBlock } from './thinking-block.tsx'
import { ToolCard } from './tool-card.tsx'

type MessageViewProps = { readonly message: Message; readonly liveOutput?: string | undefined }

/** A changed message is a new object, so identity is all there is to compare. */
export const MessageView = memo(function MessageView({ message, liveOutput }: MessageViewProps) {
  switch (message.kind) {
    case 'user':
      return <UserMessage message={message} />
    case 'assistant':
      return (
        <article className="assistant prose" aria-label="Assistant">
          <Markdown text={message.text} />
          {message.interrupted && <p className="interrupted">interrupted</p>}
        </article>
      )
    case 'thinking':
      return <ThinkingBlock text={message.text} isLive={false} isInterrupted={message.interrupted ?? false} />
    case 'tool_call':
      return <ToolCard call={message.call} liveOutput={liveOutput} />
    case 'system':
    case 'notice':
      return <Note message={message} />
    case 'usage':
      return null // summed up at the end of the turn
  }
})

type UserMessageProps = { readonly message: Extract<Message, { readonly kind: 'user' }> }

/** What a person wrote stays as they wrote it: it is no markdown unless they say so, and they can see that. */
function UserMessage({ message }: UserMessageProps) {
  const files = message.parts.flatMap((part) => (part.type === 'file' ? [part] : []))
  return (
    <article className="user" aria-label="You">
      <p dir="auto">{message.text}</p>
      {files.map((file) => (
        <p key={file.blob} className="file">
          {escapeLine(file.name ?? file.mediaType)}
        </p>
      ))}
    </article>
  )
}

type NoteProps = { readonly message: Extract<Message, { readonly kind: 'system' | 'notice' }> }

const noteCharsMax = 240

function Note({ message }: NoteProps) {
  const { text, level } = message
  const className = level === 'error' ? 'note bad' : 'note'
  if (text.length <= noteCharsMax && !text.includes('\n')) return <p className={className}>{escapeHidden(text)}</p>
  const isSummary = message.kind === 'notice' && message.code === 'compacted'
  const head = isSummary ? 'Earlier messages were summed up for the model' : `${clip(escapeLine(text), noteCharsMax)}…`
  return (
    <Fold className={className} label={head} isOpenAtFirst={false} head={<span>{head}</span>}>
      {() => <p className="note-text">{escapeHidden(text)}</p>}
    </Fold>
  )
}
