import { clip, escapeHidden, firstLine, type HookRun, type Message } from '@holdfast/protocol'
import { memo, useContext } from 'react'
import { durationText, oneLine } from '../../text/format.ts'
import { Collapsible } from '../../ui/collapsible.tsx'
import { ShownOnlyContext, useLive, useSession, whyHistoryLocked } from '../state/session-context.ts'
import { PinButton, PinMark } from './pins.tsx'
import { ResultMessage } from './result-message.tsx'
import { AssistantMessage, UserMessage } from './said-message.tsx'
import { messageElementId } from './show-message.ts'
import { SubagentCard } from './subagent-card.tsx'
import { TerminalView } from './terminal-view.tsx'
import { ToolCard } from './tool-card.tsx'

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
      if (message.child) return <ResultMessage message={message} child={message.child} isOpening={isOpening} />
      return <UserMessage message={message} isOpening={isOpening} />
    case 'assistant':
      return <AssistantMessage message={message} />
    case 'thinking':
      return <ThinkingBlock text={message.text} isLive={false} message={message} />
    case 'tool_call':
      if (message.call.child)
        return <SubagentCard message={message} liveOutput={liveOutput} child={message.call.child} />
      return <ToolCard message={message} liveOutput={liveOutput} />
    case 'system':
    case 'notice':
      if (message.kind === 'notice' && message.code === 'compacted') return <CheckpointView message={message} />
      if (message.kind === 'notice' && message.hook) return <HookCard text={message.text} hook={message.hook} />
      return <Note message={message} />
    case 'usage':
      return null // shown at the end of the turn
  }
})

const noteCharsMax = 240
/** The answer of `/help`. */
const commandLines = /^\/\S.*: .*(\n\/\S.*: .*)+$/

function Note({ message }: { readonly message: Extract<Message, { readonly kind: 'system' | 'notice' }> }) {
  const { text, level } = message
  const className = level === 'error' ? 'note bad' : 'note'
  if (message.kind === 'system' && commandLines.test(text)) return <CommandList text={text} />
  if (text.length <= noteCharsMax && !text.includes('\n')) return <p className={className}>{escapeHidden(text)}</p>
  const head = `${clip(oneLine(text), noteCharsMax)}…`
  return (
    <Collapsible className={className} isOpenAtFirst={false} head={<span>{head}</span>}>
      {() => <p className="note-text">{escapeHidden(text)}</p>}
    </Collapsible>
  )
}

/** Shows the answer of `/help`: a line for each command. */
const CommandList = ({ text }: { readonly text: string }) => (
  <ul className="note command-list" aria-label="Slash commands">
    {text.split('\n').map((line) => {
      const end = line.indexOf(': ')
      return (
        <li key={line}>
          <code>{escapeHidden(line.slice(0, end))}</code> {escapeHidden(line.slice(end + 2))}
        </li>
      )
    })}
  </ul>
)

type HookCardProps = { readonly text: string; readonly hook: HookRun }

/** Shows a hook that ran, with what it printed and told the model. */
function HookCard({ text, hook }: HookCardProps) {
  const { outcome, durationMs, context, output } = hook
  const className = outcome === 'failed' ? 'note bad' : 'note'
  const head = clip(oneLine(text), noteCharsMax)
  return (
    <Collapsible className={className} isOpenAtFirst={false} head={<span>{head}</span>}>
      {() => (
        <>
          <p className="note-text">{escapeHidden(text)}</p>
          {output && <TerminalView label="Output" text={output.text} blob={output.blob} />}
          {context !== undefined && <TerminalView label="Told to the model" text={context} />}
          <p className="tool-foot">{`${outcome} · ${durationText(durationMs)}`}</p>
        </>
      )}
    </Collapsible>
  )
}

type ThinkingBlockProps = {
  readonly text: string
  readonly isLive: boolean
  /** The recorded message; absent while it streams. */
  readonly message?: Extract<Message, { readonly kind: 'thinking' }>
}

export function ThinkingBlock({ text, isLive, message }: ThinkingBlockProps) {
  const { handle } = useSession()
  const said = isLive ? 'Thinking' : message?.interrupted ? 'Thought, interrupted' : 'Thought'
  return (
    <Collapsible
      className="thinking"
      {...(message && { elementId: messageElementId(handle.id, message.id) })}
      isOpenAtFirst={isLive}
      head={
        <>
          <span className={isLive ? 'thinking-word working' : 'thinking-word'}>{said}</span>
          <span className="fold-peek" aria-hidden="true">
            {firstLine(text, 120)}
          </span>
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
    </Collapsible>
  )
}

type CheckpointViewProps = { readonly message: Extract<Message, { readonly kind: 'notice' }> }

/** Shows a compaction. The active one can be undone. */
function CheckpointView({ message: { id, text } }: CheckpointViewProps) {
  const { asks } = useSession()
  const holding = useLive(({ view }) => view?.checkpoint ?? null)
  const hold = useLive(whyHistoryLocked)
  const holds = holding === id
  const isShownOnly = useContext(ShownOnlyContext)
  return (
    <section className={holds ? 'checkpoint holds' : 'checkpoint'} aria-label="Checkpoint">
      <p className="checkpoint-line">
        <span>{headingOf(holds, holding, id)}</span>
        {holds && !isShownOnly && (
          <button
            type="button"
            disabled={hold !== null}
            title={hold ?? 'Give the model all messages above again'}
            onClick={asks.undoCompaction}
          >
            Undo
          </button>
        )}
      </p>
      {text !== '' && (
        <Collapsible className="note" isOpenAtFirst={false} head={<span>Summary</span>}>
          {() => (
            <p className="note-text" dir="auto">
              {escapeHidden(text)}
            </p>
          )}
        </Collapsible>
      )}
    </section>
  )
}

/** Returns the heading. The last messages before a checkpoint stay in the context in full. */
function headingOf(holds: boolean, holding: number | null, id: number): string {
  if (holds) return 'The model gets a summary of the messages above, and the last ones in full'
  if (holding !== null && holding > id) return 'Summarized here; replaced by a later summary'
  return 'Summarized here, then undone: the model gets the messages above'
}
