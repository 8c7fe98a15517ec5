import { type Activity, type SessionView, statusOf } from '@holdfast/protocol'
import { askedCalls, openCalls, type SessionState, type Turn } from './state.ts'

export const activityOf = (turn: Turn): Activity => {
  if (turn.phase === 'acting') return 'tool_executing'
  if (turn.phase !== 'idle') return 'thinking'
  return turn.last?.reason === 'failed' ? 'error' : 'idle'
}

/** Returns the state as clients see it. Clients then follow records with `addToView`; a test compares the two. */
export function viewOf(state: SessionState): SessionView {
  const { turn, settings, queue } = state
  const activity = activityOf(turn)
  return {
    status: statusOf(settings.mode, activity),
    mode: settings.mode,
    activity,
    model: settings.model,
    thinkingLevel: settings.thinkingLevel,
    fallback: turn.phase === 'idle' ? null : (turn.fallback?.model ?? null),
    step: turn.phase === 'thinking' ? turn.step : null,
    pendingApprovals: askedCalls(state).map(({ id, tool, approval, preview }) => ({
      id: approval,
      call: id,
      tool,
      preview,
    })),
    activeToolCalls: openCalls(state).map(({ id, tool }) => ({ id, tool })),
    queue: [...queue],
    trust: [...state.trust],
    branches: state.branches.map(({ name, turns, messages, at, hidden }) => ({
      ...{ name, turns, messages, at },
      ...(hidden && { hidden }),
    })),
    branch: state.branch,
    pins: state.pins.map(({ message }) => message),
    collapsed: state.collapse.all,
    tokens: state.tokens,
    isEstimate: state.isEstimate,
    turnUsage: state.turnUsage,
    checkpoint: state.checkpoint,
    lastTurn: turn.phase === 'idle' && turn.last ? lastOf(turn.last) : null,
    clientEventsComplete: state.clientEventsComplete,
  }
}

const lastOf = ({ reason, fault }: NonNullable<Extract<Turn, { phase: 'idle' }>['last']>) => ({
  reason,
  ...(fault && { fault }),
})
