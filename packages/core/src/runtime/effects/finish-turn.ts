import type { HookMoment } from '../../ports/hooks.ts'
import type { Report } from '../../session/input.ts'
import type { EffectOf } from '../../session/plan.ts'
import type { EffectDeps } from '../dependencies.ts'
import { hasHooks, runHooks } from './run-hooks.ts'

/** Whether hooks must agree to the end of a turn: those for Stop, in a subagent those for SubagentStop. */
export const hasStopHooks = (deps: EffectDeps): boolean =>
  hasHooks(deps, deps.state().origin?.subagent ? 'SubagentStop' : 'Stop')

/** Asks the Stop hooks whether an answered turn may end. */
export async function finishTurn(
  deps: EffectDeps,
  { turn }: EffectOf<'finish-turn'>,
  signal: AbortSignal,
): Promise<Report> {
  if (!hasStopHooks(deps)) return { type: 'turn.finishing', turn, hooks: null }
  const now = deps.state().turn
  const isGoingOn = now.phase !== 'idle' && (now.goneOn ?? 0) > 0
  const stop = { isGoingOn, lastMessage: await readLastMessage(deps) }
  const subagent = deps.state().origin?.subagent
  const moment: HookMoment = subagent
    ? { event: 'SubagentStop', ...stop, child: deps.session, agent: subagent.agent }
    : { event: 'Stop', ...stop }
  const ran = await runHooks(deps, moment, signal)
  const hooks = ran && { runs: ran.runs, block: ran.answer.block, stop: ran.answer.stop }
  return { type: 'turn.finishing', turn, hooks }
}

async function readLastMessage({ store, session, state }: EffectDeps): Promise<string | null> {
  const { lastAnswer } = state()
  if (lastAnswer === null) return null
  const { message } = lastAnswer
  const [record] = await store.read(session, { after: message - 1, upTo: message, limit: 1 })
  return record && !('lost' in record) && record.event.type === 'text.said' ? record.event.text : null
}
