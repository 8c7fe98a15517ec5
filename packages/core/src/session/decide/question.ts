import {
  type ApprovalId,
  type ClientId,
  checkAnswers,
  type Event,
  fault,
  ok,
  type QuestionReply,
  type Result,
  refuse,
} from '@holdfast/protocol'
import type { CommandOf, Decided, Events, ReportOf } from '../input.ts'
import { type Call, findCall, type OpenQuestion, openCalls, type SessionState } from '../state.ts'

/** Records the question of a running call. A call has one open question at a time. */
export function askQuestion(state: SessionState, { call, preview, atMs }: ReportOf<'question.asked'>): Events {
  const running = findCall(state, call)
  if (running?.status !== 'started' || running.question) return []
  const { approvalTimeoutMs } = state.settings
  const expiry = approvalTimeoutMs === undefined ? {} : { expiresAt: new Date(atMs + approvalTimeoutMs).toISOString() }
  return [{ type: 'question.asked', call, tool: running.tool, preview, ...expiry }]
}

/** Returns the call whose question is open under this id. */
export function findQuestion(state: SessionState, id: ApprovalId): (OpenQuestion & Pick<Call, 'id'>) | null {
  for (const call of openCalls(state))
    if (call.status === 'started' && call.question?.approval === id) return { ...call.question, id: call.id }
  return null
}

/** Answers a question: approve, reject or cancel. An answer that does not fit the question is refused. */
export function answerQuestion(
  { id: call, approval: question, preview }: NonNullable<ReturnType<typeof findQuestion>>,
  { decision, answers, via }: CommandOf<'respondToApproval'>,
  client: ClientId | null,
): Decided {
  const replied = toReply(decision, () => checkAnswers(preview.fields, answers ?? {}))
  if (!replied.ok) return replied
  const by = { client, ...(via !== undefined && { via }) }
  return ok([{ type: 'question.answered', call, question, reply: replied.value, by }])
}

function toReply(
  decision: CommandOf<'respondToApproval'>['decision'],
  check: () => ReturnType<typeof checkAnswers>,
): Result<QuestionReply> {
  if (decision === 'reject') return ok({ action: 'decline' })
  if (decision === 'cancel') return ok({ action: 'cancel' })
  if (decision !== 'approve') return refuse(fault('bad_request', onlyOnce, { decision }))
  const checked = check()
  return checked.ok ? ok({ action: 'accept', answers: checked.value }) : checked
}

const onlyOnce = 'A question is answered once: with approve, reject or cancel.'

/** Cancels the open question of a call that ends, or whose time is up. */
export function withdrawQuestion(call: Call | undefined): readonly Event[] {
  if (call?.status !== 'started' || !call.question) return []
  const { approval: question } = call.question
  return [{ type: 'question.answered', call: call.id, question, reply: { action: 'cancel' } }]
}
