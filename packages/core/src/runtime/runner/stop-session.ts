import { type Answer, fault, type Result } from '@holdfast/protocol'
import { StillRunning, waitForWork } from '../effects/aborted-work.ts'
import { endStreams, handleInput, type RunningSession, retryMs } from './handle-input.ts'

/** Aborts all work of the session at once, or with `isTurnOnly` that of its turn. */
export function interrupt(
  { sideWork, performer }: RunningSession,
  which?: Parameters<RunningSession['performer']['interrupt']>[0],
): void {
  sideWork.end()
  performer.interrupt(which)
}

/** Records that nothing runs any more: calls are interrupted, open questions keep waiting. */
export async function settleStopped(session: RunningSession): Promise<Result<Answer>> {
  session.performer.interrupt() // also work that began after the stop was asked for
  const children = await session.options.subagents?.look(session.options.id, session.folded.state)
  return handleInput(session, { type: 'process.stopped', draft: session.effects.answer?.draft() ?? null, children })
}

/** Ends all work here, records what it did to files, and closes the session. */
export async function stop(session: RunningSession, reason: 'stopped' | 'closing'): Promise<void> {
  const { id, deps } = session.options
  interrupt(session)
  const endBackground = async () => deps.tools.background?.end(id)
  const endedFirst = endBackground()
  const settled = await session.enqueue(() => settleStopped(session))
  // The next load settles the rest; the problem is reported all the same.
  if (!settled.ok && !session.closed) deps.onProblem({ where: `stopping ${id}`, cause: settled.fault })
  session.isEnding = settled.ok && session.closed === null
  if (!session.isEnding) session.effects.storage.leave()
  session.closed ??= fault('session_stopped', 'The session was unloaded here. Open it again to go on.')
  session.performer.reconcile([])
  // What the work did to files is recorded when it has ended, also that of commands in the background.
  const work = Promise.all([
    endedFirst,
    session.performer.settled().then(endBackground),
    session.isEnding ? session.notices.end(reason) : null,
  ])
  const hasEnded = await waitForWork(deps.clock, AbortSignal.abort(), work)
  session.isEnding = false
  session.effects.storage.leave()
  if (!hasEnded) deps.onProblem({ where: `stopping ${id}`, cause: new StillRunning() })
  await session.snapshots.finish(session.folded).catch((cause) => deps.onProblem({ where: `snapshot of ${id}`, cause }))
  endStreams(session, reason, reason === 'closing' ? retryMs : null)
}
