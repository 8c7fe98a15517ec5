import type { Tools } from '../../ports/tool.ts'
import type { SessionState } from '../../session/state.ts'

/** What a dead process of ours left running is ended before its calls are settled. */
export async function endLeftovers({ turn }: SessionState, tools: Pick<Tools, 'endLeftover'>): Promise<void> {
  if (turn.phase !== 'acting') return
  const marks = turn.calls.flatMap((call) => (call.status === 'started' && call.process ? [call.process] : []))
  await Promise.all(marks.map((mark) => tools.endLeftover(mark)))
}
