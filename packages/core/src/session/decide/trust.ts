import { type Command, type Event, fault, ok, type Result, refuse, type Trust } from '@holdfast/protocol'
import { askedCalls, type SessionState } from '../state.ts'

type CommandOf<Type extends Command['type']> = Extract<Command, { type: Type }>

/** Grants trust. Open questions that it covers are answered. */
export function setToolTrust(
  state: SessionState,
  { tool, scope, argsHash }: CommandOf<'setToolTrust'>,
): Result<readonly Event[]> {
  if (scope === 'turn' && state.turn.phase === 'idle') {
    return refuse(fault('bad_request', 'There is no turn to trust it for. Trust it for the session instead.'))
  }
  const trust: Trust = { tool, scope, ...(argsHash !== undefined && { argsHash }) }
  return ok(grant(state, trust, null))
}

export function revokeToolTrust({ tool }: CommandOf<'revokeToolTrust'>): readonly Event[] {
  return [{ type: 'trust.revoked', tool: tool === 'all' ? null : tool }]
}

/** Grants trust and approves all questions it covers, except the call `answered`, which has its own answer. */
export function grant(state: SessionState, trust: Trust, answered: number | null): readonly Event[] {
  const { tool, scope, argsHash } = trust
  const covered = askedCalls(state).filter(
    (call) => call.id !== answered && call.tool === tool && (argsHash === undefined || call.argsHash === argsHash),
  )
  return [
    { type: 'trust.granted', ...trust },
    ...covered.map(
      (call): Event => ({
        type: 'call.approved',
        call: call.id,
        argsHash: call.argsHash,
        by: { rule: `trust: ${scope}` },
        scope: 'once',
      }),
    ),
  ]
}
