import type { EventOf, HookRun, Recorded } from '@holdfast/protocol'
import type { HookMoment } from '../../ports/hooks.ts'
import type { EffectDeps } from '../dependencies.ts'
import { hasHooks, runHooks } from '../effects/run-hooks.ts'

/** How long hooks may take when the session leaves the process. */
const endMs = 3000

type NoticeDeps = {
  readonly effects: EffectDeps
  /** Records the runs, in turn. */
  readonly record: (runs: readonly HookRun[]) => Promise<unknown>
  /** Whether a client follows the session. */
  readonly isWatched: () => boolean
}

/** Runs the hooks that nothing waits for: Notification, and SessionEnd when the session leaves the process. */
export function createHookNotices({ effects, record, isWatched }: NoticeDeps) {
  const ending = new AbortController()
  const running = new Set<Promise<unknown>>()
  /** A subagent begins and ends no session for people, and nobody waits for its turns. */
  const isSubagent = () => effects.state().origin?.subagent != null

  function start(moment: HookMoment): void {
    const work: Promise<unknown> = runHooks(effects, moment, ending.signal)
      .then((ran) => ran && record(ran.runs))
      .catch((cause) => effects.onProblem({ where: `${moment.event} hooks`, cause }))
      .finally(() => running.delete(work))
    running.add(work)
  }

  return {
    /** Notifies of questions, and of a turn that ended while no client follows the session. */
    afterRecords(records: readonly Recorded[]): void {
      if (!hasHooks(effects, 'Notification')) return
      for (const { event } of records) {
        if (event.type === 'approval.asked') start(approvalMoment(event))
        if (event.type === 'question.asked') start(questionMoment(event))
        if (event.type === 'turn.ended' && effects.state().turn.phase === 'idle' && !isWatched() && !isSubagent())
          start(endMoment(event))
      }
    },
    /** Runs the SessionEnd hooks of a session that has worked here. Resolves when no hook runs any more. */
    async end(reason: 'stopped' | 'closing'): Promise<void> {
      if (effects.startContext !== null && !isSubagent() && hasHooks(effects, 'SessionEnd'))
        start({ event: 'SessionEnd', reason })
      if (running.size === 0) return
      const cancel = effects.clock.after(endMs, () => ending.abort(), { keepsAlive: true })
      while (running.size > 0) await Promise.all(running)
      cancel()
    },
  }
}

const approvalMoment = ({ tool }: EventOf<'approval.asked'>): HookMoment => ({
  event: 'Notification',
  kind: 'permission_prompt',
  title: 'Approval needed',
  message: `Holdfast needs your approval to use ${tool}.`,
})

const questionMoment = ({ tool, preview }: EventOf<'question.asked'>): HookMoment => ({
  event: 'Notification',
  kind: 'elicitation_dialog',
  title: 'Question',
  message: `${preview.from} asks you something, in a call of ${tool}.`,
})

const endMoment = ({ reason }: EventOf<'turn.ended'>): HookMoment => ({
  event: 'Notification',
  kind: 'idle_prompt',
  title: 'Turn ended',
  message: `Holdfast waits for you: the turn ended (${reason}).`,
})
