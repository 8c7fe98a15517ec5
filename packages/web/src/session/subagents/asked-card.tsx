import { type ChildView, escapeLine, type SessionHandle } from '@holdfast/protocol'
import { type ReactNode, useEffect, useState } from 'react'
import { ApprovalCard, type Place } from '../approval/approval-card.tsx'
import { noteAnswer } from '../approval/approval-keys.ts'
import { QuestionCard } from '../approval/question-card.tsx'
import { askedSummary, questionOf } from '../approval/question-text.ts'
import { questionElementId } from '../approval/waiting-call.tsx'
import { useSession } from '../state/session-context.ts'
import type { PageCommands } from '../state/use-commands.ts'
import { type Asked, askedKey } from './asked.ts'
import { kindText } from './child-text.ts'
import { useSubagents } from './use-subagents.ts'

type AskedCardProps = {
  readonly asked: readonly Asked[]
  /** The commands of the session that is followed: it passes an answer on to its subagent. */
  readonly commands: Pick<PageCommands, 'decide' | 'answer'>
}

/**
 * Asks for everything that waits, in call order: one card each. The first is open, or the one that a person chose; the
 * others are a line each, so that the buttons stay in sight.
 */
export function AskedCard({ asked, commands }: AskedCardProps) {
  const { handle } = useSession()
  const [chosen, setChosen] = useState<string | null>(null)
  const [isAll, setAll] = useState(false)
  const open = asked.find((one) => askedKey(one) === chosen) ?? asked[0]
  if (!open) return null
  const choose = (one: Asked) => {
    setChosen(askedKey(one))
    noteAnswer()
    // The card that opens appears in the place of this line, and takes its focus.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  }
  const lines = asked.filter((one) => one !== open)
  const hidden = new Set(isAll || lines.length <= linesMax + 1 ? [] : lines.slice(linesMax))
  return (
    <ol className="asked-list" aria-label="Waiting for you">
      {asked.map((one, index) =>
        hidden.has(one) ? null : (
          <li key={askedKey(one)} id={questionElementId(one.child?.id ?? handle.id, one.approval.id)}>
            {one === open ? (
              <OpenCard
                asked={one}
                place={asked.length > 1 ? { at: index + 1, of: asked.length } : undefined}
                commands={commands}
              />
            ) : (
              <button type="button" className="asked-line" onClick={() => choose(one)}>
                <span className="ask-mark" aria-hidden="true">
                  ◆
                </span>
                <span>{questionOf(one.approval)}</span>
                <code>{askedSummary(one.approval)}</code>
                <span className="approval-more">
                  {index + 1} of {asked.length}
                </span>
              </button>
            )}
          </li>
        ),
      )}
      {hidden.size > 0 && (
        <li>
          <button type="button" className="quiet asked-more" onClick={() => setAll(true)}>
            and {hidden.size} more
          </button>
        </li>
      )}
    </ol>
  )
}

/** More lines would leave no room for the open card. */
const linesMax = 3

type OpenCardProps = Pick<AskedCardProps, 'commands'> & { readonly asked: Asked; readonly place: Place | undefined }

/** The card of one approval, marked with the subagent that asks for it. */
function OpenCard({ asked, place, commands }: OpenCardProps) {
  const { handle } = useSession()
  const { approval, child } = asked
  const { preview } = approval
  const key = askedKey(asked)
  const common = { approval, place, ...(child && { mark: <AskerMark child={child} /> }) }
  if (preview.type === 'question')
    return (
      <QuestionCard
        key={key}
        {...common}
        question={preview}
        onAnswer={(decision, answers) => commands.answer(approval.id, decision, answers, child?.id)}
      />
    )
  const card = (handle: SessionHandle) => (
    <ApprovalCard
      key={key}
      {...common}
      handle={handle}
      onDecide={(decision, message) => commands.decide(approval.id, decision, message, child?.id)}
    />
  )
  if (!child || !preview.blob) return card(handle)
  return <InChild key={key} child={child.id} card={card} />
}

/** Says which subagent asks, and opens it. */
function AskerMark({ child: { id, agent, task } }: { readonly child: ChildView }) {
  const { opened, open } = useSubagents()
  return (
    <p className="approval-from">
      <span>
        The <b>{kindText(agent)}</b> asks: {escapeLine(task)}
      </span>
      {id !== opened && (
        <button type="button" className="small" onClick={() => open(id)}>
          Open
        </button>
      )}
    </p>
  )
}

type InChildProps = {
  readonly child: SessionHandle['id']
  readonly card: (handle: SessionHandle) => ReactNode
}

/** Draws a card with the handle of a subagent, which keeps the whole of a shortened preview. */
function InChild({ child, card }: InChildProps) {
  const { handleOf } = useSubagents()
  const [handle, setHandle] = useState<SessionHandle | null>(null)
  useEffect(() => {
    let isLeft = false
    handleOf(child).then((found) => {
      if (found.ok && !isLeft) setHandle(found.value)
    })
    return () => {
      isLeft = true
    }
  }, [handleOf, child])
  if (!handle) return <p className="nothing working">Loading</p>
  return card(handle)
}
