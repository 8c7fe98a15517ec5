import type { HookedSession, HookMoment } from '@holdfast/core/ports'
import { HookEvent, unreachable } from '@holdfast/protocol'
import { z } from 'zod'

const common = {
  session_id: z.string().describe('The id of the session; in a subagent that of the session which a person started.'),
  transcript_path: z.null().describe('Holdfast has no file of the conversation: `holdfast show <session>` prints it.'),
  cwd: z.string().describe('The working directory of the session, which is also that of the hook.'),
  permission_mode: z
    .enum(['default', 'plan', 'bypassPermissions'])
    .describe('`plan` in plan mode, `bypassPermissions` if the session asks about no call.'),
  agent_id: z.string().optional().describe('The session of the subagent in which it happens; absent outside of one.'),
  agent_type: z.string().optional().describe('The kind of that subagent.'),
}

const call = {
  tool_name: z.string().describe('The name of the tool.'),
  tool_input: z.record(z.string(), z.unknown()).describe('The arguments of the call.'),
  tool_use_id: z
    .string()
    .describe('The id of the call, as the model has it; `command` for one that a slash command runs.'),
}

const stopped = {
  stop_hook_active: z.boolean().describe('Whether the turn goes on only because such a hook wanted it.'),
  last_assistant_message: z.string().optional().describe('The last answer.'),
}

/** What a hook gets as JSON on standard input, or a function as its argument, by event. */
export const hookPayloads = {
  PreToolUse: z.object({ hook_event_name: z.literal('PreToolUse'), ...common, ...call }),
  PostToolUse: z.object({
    hook_event_name: z.literal('PostToolUse'),
    ...common,
    ...call,
    tool_response: z
      .object({ text: z.string(), is_error: z.boolean() })
      .describe('The result. Hooks of `.claude` get it in the form they expect, and only if the call worked.'),
    duration_ms: z.number().describe('How long the call took.'),
  }),
  UserPromptSubmit: z.object({
    hook_event_name: z.literal('UserPromptSubmit'),
    ...common,
    prompt: z.string().describe('The text of the prompt.'),
  }),
  PreCompact: z.object({
    hook_event_name: z.literal('PreCompact'),
    ...common,
    trigger: z.enum(['manual', 'auto']).describe('`auto` if the context is almost full.'),
    custom_instructions: z.string().describe('Always empty.'),
  }),
  SessionStart: z.object({
    hook_event_name: z.literal('SessionStart'),
    ...common,
    source: z
      .enum(['startup', 'resume', 'compact'])
      .describe('`startup` before the first turn, `resume` in another process, `compact` after a compaction.'),
    model: z.string().describe('The model of the session.'),
  }),
  SessionEnd: z.object({
    hook_event_name: z.literal('SessionEnd'),
    ...common,
    reason: z
      .enum(['stopped', 'closing', 'other'])
      .describe('`closing` if the process ends. Hooks of `.claude` get `other`.'),
  }),
  Stop: z.object({ hook_event_name: z.literal('Stop'), ...common, ...stopped }),
  SubagentStop: z.object({
    hook_event_name: z.literal('SubagentStop'),
    ...common,
    ...stopped,
    agent_id: z.string().describe('The session of the subagent.'),
    agent_type: z.string().describe('Its kind.'),
  }),
  Notification: z.object({
    hook_event_name: z.literal('Notification'),
    ...common,
    notification_type: z
      .enum(['permission_prompt', 'elicitation_dialog', 'idle_prompt'])
      .describe(
        'An approval waits; a question of a running call waits; or a turn ended while no client followed the session.',
      ),
    title: z.string(),
    message: z.string(),
  }),
} as const satisfies Readonly<Record<HookEvent, z.ZodType>>

/** What a hook is told, by event. */
export type HookPayloads = { readonly [Event in HookEvent]: z.infer<(typeof hookPayloads)[Event]> }

/** What a hook is told. */
export type HookPayload = HookPayloads[HookEvent]

/** Returns what a hook is told about a moment. */
export function payloadOf(
  moment: HookMoment,
  { session, workdir, mode, approvals, agent }: HookedSession,
): HookPayload {
  const permission: HookPayload['permission_mode'] =
    mode === 'plan' ? 'plan' : approvals === 'none' ? 'bypassPermissions' : 'default'
  const common = {
    session_id: session,
    transcript_path: null,
    cwd: workdir,
    permission_mode: permission,
    ...(agent && { agent_id: agent.session, agent_type: agent.kind }),
  } as const
  switch (moment.event) {
    case 'PreToolUse':
      return { hook_event_name: moment.event, ...common, ...callOf(moment) }
    case 'PostToolUse': {
      const { result, durationMs } = moment
      const response = { tool_response: { text: result.text, is_error: result.isError }, duration_ms: durationMs }
      return { hook_event_name: moment.event, ...common, ...callOf(moment), ...response }
    }
    case 'UserPromptSubmit':
      return { hook_event_name: moment.event, ...common, prompt: moment.prompt }
    case 'PreCompact':
      return { hook_event_name: moment.event, ...common, trigger: moment.trigger, custom_instructions: '' }
    case 'SessionStart':
      return { hook_event_name: moment.event, ...common, source: moment.source, model: moment.model }
    case 'SessionEnd':
      return { hook_event_name: moment.event, ...common, reason: moment.reason }
    case 'Stop':
      return { hook_event_name: moment.event, ...common, ...stopOf(moment) }
    case 'SubagentStop':
      return {
        hook_event_name: moment.event,
        ...common,
        ...stopOf(moment),
        agent_id: moment.child,
        agent_type: moment.agent,
      }
    case 'Notification': {
      const { kind: notification_type, title, message } = moment
      return { hook_event_name: moment.event, ...common, notification_type, title, message }
    }
    default:
      return unreachable(moment)
  }
}

const callOf = ({ tool, args, call: id }: Extract<HookMoment, { event: 'PreToolUse' | 'PostToolUse' }>) => ({
  tool_name: tool,
  tool_input: { ...args },
  tool_use_id: id === null ? 'command' : `c${id}`,
})

const stopOf = ({ isGoingOn, lastMessage }: Extract<HookMoment, { event: 'Stop' | 'SubagentStop' }>) => ({
  stop_hook_active: isGoingOn,
  ...(lastMessage !== null && { last_assistant_message: lastMessage }),
})

/** Returns what a matcher of an event is compared with; null if such an event has no matchers. */
export function subjectOf(moment: HookMoment): string | null {
  switch (moment.event) {
    case 'PreToolUse':
    case 'PostToolUse':
      return moment.tool
    case 'PreCompact':
      return moment.trigger
    case 'SessionStart':
      return moment.source
    case 'SessionEnd':
      return moment.reason
    case 'SubagentStop':
      return moment.agent
    case 'Notification':
      return moment.kind
    case 'UserPromptSubmit':
    case 'Stop':
      return null
    default:
      return unreachable(moment)
  }
}

/** Returns the JSON Schemas of what hooks get, by event. */
export const payloadJsonSchemas = (): Readonly<Record<string, object>> =>
  Object.fromEntries(HookEvent.options.map((event) => [event, z.toJSONSchema(hookPayloads[event])]))
