import { type ClientId, type Event, fault, isTrustedExactly, ok, refuse, type Trust } from '@holdfast/protocol'
import type { Facts } from '../facts.ts'
import type { CommandOf, Decided, Events, ReportOf } from '../input.ts'
import { askedCalls, type SessionState, waitingCalls } from '../state.ts'
import { settle } from './call.ts'
import { answerQuestion, findQuestion } from './question.ts'

const scopes = {
  approve: 'once',
  approve_turn: 'turn',
  approve_session: 'session',
  approve_always: 'workspace',
} as const

/** Answers an open question. The first answer counts; the fault of a later one names who gave it. */
export function respondToApproval(
  state: SessionState,
  command: CommandOf<'respondToApproval'>,
  by: ClientId | null,
  { decided, stored }: Facts,
): Decided {
  const { approval = waitingCalls(state)[0]?.approval, decision, message, via } = command
  const question = approval === undefined ? null : findQuestion(state, approval)
  if (question) return answerQuestion(question, command, by)
  const asked = askedCalls(state).find((call) => call.approval === approval)
  if (!asked) {
    if (approval === undefined) return refuse(fault('no_pending_approval', 'No call waits for approval.'))
    if (!decided) return refuse(fault('approval_not_found', `This session has no approval ${approval}.`, { approval }))
    const answered = `Approval ${approval} was already answered by ${decided.by}.`
    return refuse(fault('already_decided', answered, { ...decided }))
  }

  if (decision === 'cancel' || command.answers !== undefined)
    return refuse(fault('bad_request', 'This approval is not a question. Approve or reject it.', { approval }))
  const { id: call } = asked
  const target = targetOf(asked)
  if (decision === 'reject') {
    const reason = message?.trim() ? message : `${via ?? 'a person'} said no`
    const outcome = { type: 'denied' as const, code: 'rejected' as const, message: reason }
    return ok([settle(call, via === undefined ? outcome : { ...outcome, via }, by)])
  }
  // A call that is asked about each time gives no trust to others.
  const scope = asked.reason === undefined ? scopes[decision] : 'once'
  const answeredBy = { client: by, ...(via !== undefined && { via }) }
  const approved: Event = { type: 'call.approved', call, ...target, by: answeredBy, scope }
  if (scope === 'once') return ok([approved])
  if (scope === 'workspace' && stored) {
    const { rule, by: ruleName } = stored
    return ok([{ ...approved, rule }, ...approveCovered(state, ruled(asked), call, ruleName)])
  }
  // What is trusted for the session is trusted for the whole tree: the session at its top records it.
  if (scope === 'session' && state.origin?.subagent)
    return ok([approved, ...approveCovered(state, ruled(asked), call, 'trust: session')])
  const trust = { scope, ...ruled(asked) }
  return ok([approved, ...grant(state, trust, call)])
}

/** Returns what the answer to a question covers. */
const targetOf = ({ argsHash, contentHash }: ReturnType<typeof askedCalls>[number]) => ({
  argsHash,
  ...(contentHash !== null && { contentHash }),
})

/** Grants trust. Open questions that it covers are answered. Trust for a turn in an idle session covers the next turn. */
export function setToolTrust(state: SessionState, { tool, scope, argsHash }: CommandOf<'setToolTrust'>): Decided {
  return ok(grant(state, { tool, scope, ...(argsHash !== undefined && { argsHash }) }))
}

export function revokeToolTrust({ tool }: CommandOf<'revokeToolTrust'>): Events {
  return [{ type: 'trust.revoked', tool: tool === 'all' ? null : tool }]
}

/** Grants trust and approves all questions it covers, except the call `answered`, which has its own answer. */
const grant = (state: SessionState, trust: Trust, answered?: number): Events => [
  { type: 'trust.granted', ...trust },
  ...approveCovered(state, trust, answered, `trust: ${trust.scope}`),
]

/** Counts trust that a person gave in another session of the tree. */
export const spreadTrust = (state: SessionState, { trust, isGranted, rule }: ReportOf<'trust.spread'>): Events =>
  isGranted ? grant(state, { scope: 'session', ...trust }) : approveCovered(state, trust, undefined, rule)

type Covering = Pick<Trust, 'tool' | 'argsHash'>

/** Returns which calls the rule for a call covers: the same ones as trust would. */
const ruled = ({ tool, argsHash }: ReturnType<typeof askedCalls>[number]): Covering => ({
  tool,
  ...(isTrustedExactly(tool) && { argsHash }),
})

/** Approves the open questions that trust or a rule covers, except the call `answered`. */
function approveCovered(state: SessionState, trust: Covering, answered: number | undefined, rule: string): Events {
  const covered = askedCalls(state).filter(
    (call) =>
      call.id !== answered &&
      call.reason === undefined &&
      call.tool === trust.tool &&
      (trust.argsHash ?? call.argsHash) === call.argsHash,
  )
  return covered.map((call): Event => {
    return { type: 'call.approved', call: call.id, ...targetOf(call), by: { rule }, scope: 'once' }
  })
}
