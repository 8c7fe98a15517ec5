import { z } from 'zod'
import { hasHiddenChars } from '../text/hostile-text.ts'
import { limits } from './limits.ts'

/** The part before the first slash of a model name. */
export const ProviderName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'a provider name has lower-case letters, digits, - and _')
export type ProviderName = z.infer<typeof ProviderName>

/** `provider/model`. */
export const ModelName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]*\/\S{1,200}$/, 'a model is named provider/model')
  .refine((name) => !hasHiddenChars(name), 'a model name has no hidden characters')
export type ModelName = z.infer<typeof ModelName>

export const providerOf = (model: ModelName): string => model.slice(0, model.indexOf('/'))
/** Returns the provider's own id of the model. */
export const modelIdOf = (model: ModelName): string => model.slice(model.indexOf('/') + 1)

/** How much a model thinks before it answers. */
export const ThinkingLevel = z.enum(['off', 'low', 'medium', 'high'])
export type ThinkingLevel = z.infer<typeof ThinkingLevel>

/** `plan` denies tools that change something. */
export const Mode = z.enum(['exec', 'plan'])
export type Mode = z.infer<typeof Mode>

/** The workdir of a session that has none yet: an import adopts no folder that a person would not choose. */
export const noWorkdir = ''

/** Limits at which a turn stops, checked between two model calls. */
export const Budgets = z.object({
  /** Model calls per turn. */
  maxSteps: z.int().min(1).optional(),
  /** Tokens in and out of the whole session; estimated when a provider did not count. */
  maxTokens: z.int().min(1).optional(),
  /** Dollars for the whole session; a call of unknown price counts as 0. */
  maxCost: z.number().min(0).optional(),
})
export type Budgets = z.infer<typeof Budgets>

/** Which calls need approval when no rule applies: those that change something, all, or none. */
export const ApprovalRule = z.enum(['destructive', 'all', 'none'])
export type ApprovalRule = z.infer<typeof ApprovalRule>

/** A rule for calls of a tool: all of them, or those whose command or path matches a pattern. */
export const Permission = z.strictObject({
  /** The tool, or `*` for every tool. */
  tool: z.string().min(1).max(200),
  /** Words for a command, a glob for a path. Absent: every call of the tool. */
  pattern: z.string().max(1000).optional(),
  /** The pattern is the whole command or the whole arguments, and no character in it is special. */
  exact: z.literal(true).optional(),
  /** Deny beats ask, and ask beats allow. */
  verdict: z.enum(['allow', 'ask', 'deny']),
})
export type Permission = z.infer<typeof Permission>

/** Provider-specific options, by provider, then by option. */
export const ProviderOptions = z
  .record(z.string().max(100), z.record(z.string().max(200), z.json()))
  .refine((options) => JSON.stringify(options).length <= limits.providerOptionsCharsMax, {
    error: `at most ${limits.providerOptionsCharsMax} characters of JSON`,
  })
export type ProviderOptions = z.infer<typeof ProviderOptions>

/** The name of an MCP server in its configuration. */
export const ServerName = z.string().min(1).max(64)

/** Settings a person may change at any time. They belong to the session, not to a line. */
export const Settings = z.object({
  model: ModelName,
  thinkingLevel: ThinkingLevel,
  mode: Mode,
  title: z.string().max(200).optional(),
  budgets: Budgets,
  /** `destructive` when absent. */
  approvals: ApprovalRule.optional(),
  permissions: z.array(Permission).max(500).optional(),
  /** The MCP servers that the session does not use, by name; all are used when absent. */
  serversOff: z.array(ServerName).max(limits.serversOffMax).optional(),
  /** How long an approval waits; without limit when absent. */
  approvalTimeoutMs: z.int().min(1).max(limits.approvalTimeoutMsMax).optional(),
})
export type Settings = z.infer<typeof Settings>

export const Activity = z.enum(['idle', 'thinking', 'tool_executing', 'error'])
export type Activity = z.infer<typeof Activity>

/** Status shown in lists. `interrupted`: its owner died during a turn and no other took over. */
export const Status = z.enum(['idle', 'plan', 'thinking', 'tool_executing', 'error', 'interrupted'])
export type Status = z.infer<typeof Status>

/** Returns the activity, or `plan` for an idle session in plan mode. */
export const statusOf = (mode: Mode, activity: Activity): Status =>
  mode === 'plan' && activity === 'idle' ? 'plan' : activity
