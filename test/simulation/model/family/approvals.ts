import type { Decision, TrustScope } from '@holdfast/protocol'
import fc from 'fast-check'
import { accepted, type OpenCall, refused, type State } from '../state.ts'
import { progress, settleCall } from '../turn-progress.ts'
import { type CommandTemplate, type Family, pickOf, unknownId } from './family.ts'
import { grant } from './trust.ts'

/** Returns the open approvals in the order of their calls. */
export const askedCalls = ({ turn }: State): readonly OpenCall[] =>
  (turn?.calls ?? []).filter(({ status }) => status === 'asked')

const scopes: Partial<Record<Decision, TrustScope>> = {
  approve_turn: 'turn',
  approve_session: 'session',
  approve_always: 'workspace',
}

/** Which approval is answered: the oldest, an open one, a decided one, or one that does not exist. */
type Which = 'oldest' | 'waiting' | 'decided' | 'strange'

export const respond = (decision: Decision, which: Which, pick = 0): CommandTemplate => ({
  code: `respond('${decision}', '${which}', ${pick})`,
  command: (state) => {
    if (which === 'oldest') return { type: 'respondToApproval', decision }
    const waiting = pickOf(askedCalls(state), pick)?.approval
    const decided = pickOf(state.decided, pick)?.approval
    const approval = { waiting, decided, strange: unknownId }[which] ?? unknownId
    return { type: 'respondToApproval', decision, approval }
  },
})

export const approvals: Family = {
  templates: [
    fc
      .tuple(
        fc.constantFrom<Decision[]>('approve', 'reject', 'approve_turn', 'approve_session', 'approve_always'),
        fc.constantFrom<Which[]>('oldest', 'waiting', 'decided', 'strange'),
        fc.nat(3),
      )
      .map(([decision, which, pick]) => respond(decision, which, pick)),
    fc
      .constantFrom<Decision[]>('approve', 'approve', 'reject', 'approve_turn')
      .map((decision) => respond(decision, 'oldest')),
  ],
  rules: {
    /** Each approval is decided once. A later answer is refused with the name of the first. */
    respondToApproval(state, { decision, approval }, { by }) {
      const waiting = askedCalls(state)
      const call = approval === undefined ? waiting[0] : waiting.find((one) => one.approval === approval)
      if (!call) {
        if (approval === undefined) return refused(state, 'no_pending_approval')
        const before = state.decided.find((one) => one.approval === approval)
        return before ? refused(state, 'already_decided', before.by ?? undefined) : refused(state, 'approval_not_found')
      }
      const who = by ?? 'someone else'
      if (decision === 'reject') return accepted(settleCall(state, call.place, 'denied', who))
      const approved = progress(state, call.place, 'approved', who)
      const scope = scopes[decision]
      if (!scope) return accepted(approved)
      // A shell is trusted for the exact command only.
      return accepted(grant(approved, { tool: call.tool, scope, n: call.tool === 'shell' ? call.n : null }))
    },
  },
}
