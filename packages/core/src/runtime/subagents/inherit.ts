import {
  type Budgets,
  type Event,
  type EventOf,
  type Handle,
  invariant,
  limits,
  type ModelName,
  providerOf,
  type SessionId,
  type Subagent,
  type Usage,
} from '@holdfast/protocol'
import type { SubagentRequest } from '../../ports/guidance.ts'
import type { SessionState } from '../../session/state.ts'

/** What decides how a subagent starts. */
export type Inheritance = {
  readonly parent: SessionId
  readonly state: SessionState
  readonly subagent: Subagent
  readonly request: SubagentRequest
  readonly model: ModelName
  /** The only tools it is offered; null for all. */
  readonly tools: readonly string[] | null
  readonly budgets: Budgets
}

/**
 * Returns the first events of a subagent. It has the folder, mode, rules, boundaries, skills and hooks of its parent, and
 * nothing of the conversation. A kind of agent can take away tools, and never add any.
 */
export function firstEvents(given: Inheritance, handle: Handle): readonly Event[] {
  const { state } = given
  const boundaries = state.boundaries.map((boundary): Event => ({ type: 'boundary.set', ...boundary }))
  const skills = state.skills.map(({ name, hash, by }): Event => ({ type: 'skill.activated', name, hash, by }))
  return [startedEvent(given, handle), ...boundaries, ...skills]
}

function startedEvent(given: Inheritance, handle: Handle): EventOf<'session.started'> {
  const { parent, subagent, request, model, tools, budgets } = given
  const { origin, settings } = given.state
  invariant(origin, 'only a started session has subagents')
  const { workdir, readOnly, persist, instructions, providerOptions, hooksEnabled } = origin
  const { thinkingLevel, mode, approvals, permissions, approvalTimeoutMs, serversOff } = settings
  const isSameProvider = providerOf(model) === providerOf(settings.model)
  return {
    type: 'session.started',
    handle,
    workdir,
    settings: {
      model,
      thinkingLevel,
      mode,
      budgets,
      ...(approvals !== undefined && { approvals }),
      ...(permissions !== undefined && { permissions }),
      ...(approvalTimeoutMs !== undefined && { approvalTimeoutMs }),
      ...(serversOff !== undefined && { serversOff }),
    },
    ...(tools !== null && { tools: [...tools] }),
    ...(readOnly && { readOnly }),
    ...(!persist && { persist: false }),
    instructions: [instructions, roleText, request.instructions].filter((text) => text != null).join('\n\n'),
    ...(providerOptions !== null && isSameProvider && { providerOptions }),
    ...(!hooksEnabled && { hooksEnabled: false }),
    sessionStartHook: false, // it does not begin a session of its own
    ...(request.background && { background: true }),
    parent,
    subagent,
  }
}

const roleText =
  'You are a subagent: another agent gave you the task. Nobody else reads what you write. When you are done, write a complete result as your last message; only that message is returned. You do not see the conversation of the other agent.'

/** Returns what is left of budgets after what a tree has used. At least the smallest budget is left, so that it can stop. */
export function remainingBudgets(budgets: Budgets, used: Usage): Budgets {
  const { maxSteps, maxTokens, maxCost } = budgets
  const tokens = used.input + used.output + used.cacheRead + used.cacheWrite
  return {
    ...(maxSteps !== undefined && { maxSteps }),
    ...(maxTokens !== undefined && { maxTokens: Math.max(1, maxTokens - tokens) }),
    ...(maxCost !== undefined && { maxCost: Math.max(0, maxCost - (used.cost ?? 0)) }),
  }
}

/** Returns the tools that a kind of agent leaves of those that its parent has; null if it leaves all. */
export function pickTools(offered: readonly string[], { tools, withoutTools = [] }: SubagentRequest): string[] | null {
  if (tools == null && withoutTools.length === 0) return null
  const isNamed = (name: string, names: readonly string[]) =>
    names.some((one) => one === name || one === '*' || (one.startsWith('mcp__') && name.startsWith(`${one}__`)))
  return offered.filter((name) => (tools == null || isNamed(name, tools)) && !isNamed(name, withoutTools))
}

/** Returns why no subagent can start; null if one can. The model is told not to try again. */
export function limitText(depth: number, running: number, started: number): string | null {
  if (depth > limits.subagentDepthMax)
    return `Subagents can be ${limits.subagentDepthMax} deep, and this one would be deeper. Do not try again: do the work yourself.`
  if (started >= limits.subagentsMax)
    return `${limits.subagentsMax} subagents were started for this session, which is the limit. Do not try again: do the work yourself.`
  if (running >= limits.subagentsRunningMax)
    return `${limits.subagentsRunningMax} subagents run now, which is the limit. Do not try again until one has ended.`
  return null
}
