import { type ClientId, type Event, fault, isTrustedExactly, ok, refuse, type Trust } from '@holdfast/protocol'
import type { CommandOf, Decided, Events, Facts } from '../input.ts'
import { askedCalls, type SessionState } from '../state.ts'
import { settle } from './call.ts'

const scopes = {
  approve: 'once',
  approve_turn: 'turn',
  approve_session: 'session',
  approve_always: 'workspace',
} as const

/** Answers an open question. The first answer counts; the fault of a later one names who gave it. */
export function respondToApproval(
  state: SessionState,
  { approval, decision, message }: CommandOf<'respondToApproval'>,
  by: ClientId | null,
  { decided }: Facts,
): Decided {
  const waiting = askedCalls(state)
  const asked = approval === undefined ? waiting[0] : waiting.find((call) => call.approval === approval)
  if (!asked) {
    if (approval === undefined) return refuse(fault('no_pending_approval', 'No call waits for approval.'))
    if (!decided) return refuse(fault('approval_not_found', `This session has no approval ${approval}.`, { approval }))
    const answered = `Approval ${approval} was already answered by ${decided.by}.`
    return refuse(fault('already_decided', answered, { ...decided }))
  }

  const { id: call, tool, argsHash } = asked
  const target = targetOf(asked)
  if (decision === 'reject') {
    const reason = message?.trim() ? message : 'a person said no'
    return ok([settle(call, { type: 'denied', code: 'rejected', message: reason }, by)])
  }
  // A call that is asked about each time gives no trust to others.
  const scope = asked.reason === undefined ? scopes[decision] : 'once'
  const approved: Event = { type: 'call.approved', call, ...target, by: { client: by }, scope }
  if (scope === 'once') return ok([approved])
  const trust = { tool, scope, ...(isTrustedExactly(tool) && { argsHash }) }
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
function grant(state: SessionState, trust: Trust, answered?: number): Events {
  const { tool, scope } = trust
  const covered = askedCalls(state).filter(
    (call) =>
      call.id !== answered &&
      call.reason === undefined &&
      call.tool === tool &&
      (trust.argsHash ?? call.argsHash) === call.argsHash,
  )
  const approved = covered.map((call): Event => {
    return { type: 'call.approved', call: call.id, ...targetOf(call), by: { rule: `trust: ${scope}` }, scope: 'once' }
  })
  return [{ type: 'trust.granted', ...trust }, ...approved]
}
