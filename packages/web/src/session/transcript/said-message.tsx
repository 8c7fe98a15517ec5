import { escapeHidden, type Message } from '@holdfast/protocol'
import { useContext, useState } from 'react'
import { CopyButton } from '../../code/copy-button.tsx'
import { Markdown } from '../../markdown/markdown.tsx'
import { beginningOf } from '../../text/format.ts'
import { Collapsible } from '../../ui/collapsible.tsx'
import { ShownOnlyContext, useLive, useSession, WatchingContext } from '../state/session-context.ts'
import { filesOf } from '../state/use-commands.ts'
import { FileParts } from '../tool-result/file-parts.tsx'
import { EditPrompt } from './edit-prompt.tsx'
import { MessageTime } from './message-time.tsx'
import { PinButton } from './pins.tsx'
import { messageElementId } from './show-message.ts'
import { TurnMenu } from './turn-menu.tsx'
import { VersionPager } from './version-pager.tsx'

type AssistantMessageProps = { readonly message: Extract<Message, { readonly kind: 'assistant' }> }

/** Shows what the model answered. Its actions float above it and take no room. */
export function AssistantMessage({ message }: AssistantMessageProps) {
  const { handle } = useSession()
  const { id, text, pinned, interrupted } = message
  return (
    <div id={messageElementId(handle.id, id)} className={pinned ? 'said pinned' : 'said'} tabIndex={-1}>
      <h2 className="hidden-text">Answer</h2>
      <article className="assistant prose" aria-label="Assistant">
        <Markdown text={text} />
        {interrupted && <p className="interrupted">interrupted</p>}
      </article>
      <div className="message-actions">
        <MessageTime at={message.at} />
        <CopyButton text={() => text} label="Copy answer" isIcon />
        <PinButton message={message} />
      </div>
    </div>
  )
}

type UserMessageProps = { readonly message: Extract<Message, { readonly kind: 'user' }>; readonly isOpening: boolean }

/** Shows a person's text as it was written, without markdown. The first prompt of a subagent is its task. */
export function UserMessage({ message, isOpening }: UserMessageProps) {
  const { handle, takeBack } = useSession()
  const isTask = useLive(({ meta }) => meta?.subagent !== undefined) && message.parent === null
  const [isEdited, setEdited] = useState(false)
  const canEdit = !useContext(ShownOnlyContext) && isOpening && takeBack !== null
  const files = filesOf(message)
  if (isEdited) return <EditPrompt prompt={message} onClose={() => setEdited(false)} />
  return (
    <div
      id={messageElementId(handle.id, message.id)}
      className={message.pinned ? 'user-row pinned' : 'user-row'}
      tabIndex={-1}
    >
      <h2 className="hidden-text">Prompt</h2>
      <article className={isTask ? 'user task' : 'user'} aria-label={isTask ? 'Task' : 'You'}>
        {isTask && <p className="task-word">Task</p>}
        <PromptText text={message.text} />
        {message.isExpanded && <ExpandedText parts={message.parts} />}
        <FileParts files={files} />
      </article>
      <PinButton message={message} />
      {canEdit && <EditButton onEdit={() => setEdited(true)} />}
      <CopyButton text={() => message.text} label="Copy prompt" isIcon />
      {isOpening && takeBack && <TurnMenu prompt={message} onEdit={() => setEdited(true)} />}
      <MessageTime at={message.at} />
      {isOpening && <VersionPager prompt={message} />}
    </div>
  )
}

const promptLinesMax = 60
const promptCharsMax = 8000

/** Shows a prompt. Of a long one the beginning, until a person asks for all. */
function PromptText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  const beginning = beginningOf(text, promptLinesMax, promptCharsMax)
  if (isWhole || beginning === null) return <p dir="auto">{text}</p>
  const lines = text.split('\n').length
  return (
    <>
      <p dir="auto">{beginning}…</p>
      <button type="button" className="link" onClick={() => setWhole(true)}>
        {lines > 1 ? `Show all ${lines} lines` : 'Show all'}
      </button>
    </>
  )
}

function EditButton({ onEdit }: { readonly onEdit: () => void }) {
  const watching = useContext(WatchingContext)
  return (
    <button
      type="button"
      className="quiet icon-button"
      aria-label="Edit prompt"
      disabled={watching !== null}
      title={watching ?? 'Edit and send again'}
      onClick={onEdit}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M10.500 3.250l2.250 2.250-7 7-3 .75.75-3zM9 4.750l2.250 2.250" />
      </svg>
    </button>
  )
}

/** Shows what a slash command became, which is what the model got. */
function ExpandedText({ parts }: Pick<UserMessageProps['message'], 'parts'>) {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const head = 'What the model got'
  return (
    <Collapsible className="note" isOpenAtFirst={false} head={<span>{head}</span>}>
      {() => <p className="note-text">{escapeHidden(text)}</p>}
    </Collapsible>
  )
}
