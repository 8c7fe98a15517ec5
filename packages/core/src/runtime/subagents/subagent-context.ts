import { limits, type SessionId, type SubagentContext } from '@holdfast/protocol'
import type { SessionState } from '../../session/state.ts'
import { limitText, remainingBudgets } from './inherit.ts'
import { placeBelow } from './start-child.ts'
import type { Trees } from './trees.ts'

/** Returns what a subagent of a session would inherit if it started now. */
export async function contextOf(trees: Trees, session: SessionId, state: SessionState): Promise<SubagentContext> {
  const { origin, settings, skills, boundaries } = state
  const { root, depth } = placeBelow(session, origin?.subagent ?? null)
  const { running, started } = await trees.count(root)
  const budgets = remainingBudgets(trees.budgets(root) ?? settings.budgets, await trees.used(root))
  return {
    root,
    depth,
    refusal: limitText(depth, running, started),
    workdir: origin?.workdir ?? '',
    model: settings.model,
    thinkingLevel: settings.thinkingLevel,
    mode: settings.mode,
    skills: [...skills],
    boundaries: boundaries.map(({ path, start, end }) => ({ path, start, end })),
    approvals: settings.approvals ?? 'destructive',
    permissions: [...(settings.permissions ?? [])],
    tools: origin?.tools ? [...origin.tools] : null,
    readOnly: origin?.readOnly ?? false,
    budgets,
    running,
    runningMax: limits.subagentsRunningMax,
    started,
    startedMax: limits.subagentsMax,
  }
}
