import {
  type ClientId,
  type Command,
  type Event,
  fault,
  isTrustedExactly,
  ok,
  type Result,
  refuse,
} from '@holdfast/protocol'
import type { Facts } from '../input.ts'
import { askedCalls, type SessionState } from '../state.ts'
import { grant } from './trust.ts'

const scopes = {
  approve: 'once',
  approve_turn: 'turn',
  approve_session: 'session',
  approve_always: 'workspace',
} as const

type Response = Extract<Command, { type: 'respondToApproval' }>

/** Answers an open question. The first answer counts; a later one is told who gave it. */
export function respondToApproval(
  state: SessionState,
  { approval, decision, message }: Response,
  by: ClientId | null,
  { decided }: Facts,
): Result<readonly Event[]> {
  const waiting = askedCalls(state)
  const asked = approval === undefined ? waiting[0] : waiting.find((call) => call.approval === approval)
  if (!asked) {
    if (approval === undefined) return refuse(fault('no_pending_approval', 'Nothing waits for approval.'))
    if (decided)
      return refuse(
        fault('already_decided', `Approval ${approval} was already answered by ${decided.by}.`, { ...decided }),
      )
    return refuse(fault('approval_not_found', `There is no approval ${approval} in this session.`, { approval }))
  }

  const { id: call, argsHash } = asked
  if (decision !== 'reject') {
    const scope = scopes[decision]
    const approved: Event = { type: 'call.approved', call, argsHash, by: { client: by }, scope }
    if (scope === 'once') return ok([approved])
    const trust = { tool: asked.tool, scope, ...(isTrustedExactly(asked.tool) && { argsHash }) }
    return ok([approved, ...grant(state, trust, call)])
  }
  const reason = message?.trim() ? message : 'a person said no'
  return ok([
    {
      type: 'call.settled',
      call,
      outcome: { type: 'denied', code: 'rejected', message: reason },
      durationMs: null,
      by: { client: by },
    },
  ])
}
