import type { ChildResult, Message } from '@holdfast/protocol'
import { Markdown } from '../../markdown/markdown.tsx'
import { useSession } from '../state/session-context.ts'
import { childLook, kindText, resultText } from '../subagents/child-text.ts'
import { useSubagents } from '../subagents/use-subagents.ts'
import { PinButton } from './pins.tsx'
import { messageElementId } from './show-message.ts'
import { TurnMenu } from './turn-menu.tsx'

type ResultMessageProps = {
  readonly message: Extract<Message, { readonly kind: 'user' }>
  readonly child: ChildResult
  /** It started its turn. */
  readonly isOpening: boolean
}

/** Shows the result of a subagent in the background: nobody wrote it as a prompt. */
export function ResultMessage({ message, child: { session, agent, status }, isOpening }: ResultMessageProps) {
  const { handle, takeBack } = useSession()
  const { children, opened, open } = useSubagents()
  const { word, dot } = childLook(status)
  const task = children.find(({ id }) => id === session)?.task
  return (
    <div
      id={messageElementId(handle.id, message.id)}
      className={message.pinned ? 'result-row pinned' : 'result-row'}
      tabIndex={-1}
    >
      <article className="child-result" aria-label="Result of a subagent">
        <header>
          <span className={`dot ${dot}`} aria-hidden="true" />
          <span className="tool-name">Result of {kindText(agent)}</span>
          {task !== undefined && <code className="tool-summary">{task}</code>}
          <span className="tool-status">{word}</span>
          <button type="button" className="small" disabled={opened === session} onClick={() => open(session)}>
            Open
          </button>
        </header>
        <div className="prose">
          <Markdown text={resultText(message.text)} />
        </div>
      </article>
      <PinButton message={message} />
      {isOpening && takeBack && <TurnMenu prompt={message} />}
    </div>
  )
}
