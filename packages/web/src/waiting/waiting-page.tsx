import { escapeLine, type Sessions } from '@holdfast/protocol'
import { useId } from 'react'
import { tabClient } from '../screens/client-name.ts'
import { useIsLost, useShared } from '../screens/use-screens.ts'
import { useTabTitle } from '../screens/use-tab-title.ts'
import { ApprovalCard } from '../session/approval/approval-card.tsx'
import { QuestionCard } from '../session/approval/question-card.tsx'
import { FaultNote, ListButton } from '../ui/elements.tsx'
import { hrefOf } from '../ui/route.ts'
import { answerFromAfar } from './answer-from-afar.ts'
import { useQuestions } from './use-questions.ts'

type WaitingPageProps = { readonly sessions: Sessions; readonly onOpenList: () => void }

/** Lists all questions that wait for a person, of all sessions, and answers them. */
export function WaitingPage({ sessions, onOpenList }: WaitingPageProps) {
  useTabTitle('Waiting for you', false)
  const waiting = useShared(({ waiting }) => waiting)
  const isLost = useIsLost()
  return (
    <main className="waiting-page">
      <header className="page-head">
        <ListButton onOpen={onOpenList} />
        <h1>Waiting for you</h1>
      </header>
      {waiting.size === 0 && (
        <p className="empty">
          Nothing waits for you. When a session asks for an approval, its question appears here and in the title of the
          tab.
        </p>
      )}
      <fieldset className="waiting-sessions" disabled={isLost} aria-label="Questions">
        {[...waiting].map(([id, { title }]) => (
          <WaitingSession key={id} id={id} title={title} sessions={sessions} />
        ))}
      </fieldset>
    </main>
  )
}

type WaitingSessionProps = { readonly id: string; readonly title: string; readonly sessions: Sessions }

/** One session with its questions, in call order. */
function WaitingSession({ id, title, sessions }: WaitingSessionProps) {
  const { handle, approvals, fault } = useQuestions(sessions, id)
  const heading = useId()
  if (handle && approvals.length === 0 && fault === null) return null // only its subagents wait, which are listed too
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>
        <a href={hrefOf({ at: 'session', name: id })}>{escapeLine(title)}</a>
      </h2>
      <FaultNote fault={fault} />
      {handle &&
        approvals.map((approval, index) => {
          const place = approvals.length > 1 ? { at: index + 1, of: approvals.length } : undefined
          const say = { type: 'respondToApproval', approval: approval.id } as const
          return approval.preview.type === 'question' ? (
            <QuestionCard
              key={approval.id}
              approval={approval}
              place={place}
              question={approval.preview}
              onAnswer={(decision, answers) =>
                answerFromAfar(handle, tabClient(), { ...say, decision, ...(answers && { answers }) })
              }
            />
          ) : (
            <ApprovalCard
              key={approval.id}
              approval={approval}
              handle={handle}
              place={place}
              onDecide={(decision, message) =>
                answerFromAfar(handle, tabClient(), { ...say, decision, ...(message !== '' && { message }) })
              }
            />
          )
        })}
    </section>
  )
}
