import type { SessionState } from '@holdfast/core'

/** Whether its settings let something run that nobody is asked about. */
export const isLoose = ({ approvals, permissions = [] }: SessionState['settings']): boolean =>
  approvals === 'none' || permissions.some(({ verdict }) => verdict === 'allow')

/** At rest, and nothing in it is approved: whoever opens it as it stands runs nothing of it. */
export const isHarmless = ({ turn, queue, trust, settings }: SessionState): boolean =>
  turn.phase === 'idle' && queue.length === 0 && trust.length === 0 && !isLoose(settings)
