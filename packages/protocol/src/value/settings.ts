import { z } from 'zod'
import { hasHiddenChars } from '../text/hostile-text.ts'
import { limits } from './limits.ts'

/** What stands before the first slash of a model's name. */
export const ProviderName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'a provider is named by small letters, digits, - and _')
export type ProviderName = z.infer<typeof ProviderName>

/** `provider/model`, as people write it and can read it. */
export const ModelName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]*\/\S{1,200}$/, 'a model is named provider/model')
  .refine((name) => !hasHiddenChars(name), 'the name of a model has no hidden characters')
export type ModelName = z.infer<typeof ModelName>

export const providerOf = (model: ModelName): string => model.slice(0, model.indexOf('/'))
/** What the provider itself calls it. */
export const modelIdOf = (model: ModelName): string => model.slice(model.indexOf('/') + 1)

export const ThinkingLevel = z.enum(['off', 'low', 'medium', 'high'])
export type ThinkingLevel = z.infer<typeof ThinkingLevel>

export const Mode = z.enum(['exec', 'plan'])
export type Mode = z.infer<typeof Mode>

/** Where a turn stops by itself, between two model calls. */
export const Budgets = z.object({
  /** Model calls in one turn. */
  maxSteps: z.int().min(1).optional(),
  /** Tokens in and out, over the whole session; about as many as they were where a provider did not count. */
  maxTokens: z.int().min(1).optional(),
  /** Over the whole session; a call of unknown price counts as nothing. */
  maxCost: z.number().min(0).optional(),
})
export type Budgets = z.infer<typeof Budgets>

/** What is asked for when no rule speaks: what changes something, everything, or nothing. */
export const ApprovalRule = z.enum(['destructive', 'all', 'none'])
export type ApprovalRule = z.infer<typeof ApprovalRule>

/** A standing word on calls of a tool whose target (a command, a path) fits the pattern: `*` stands for any text. */
export const Permission = z.strictObject({
  tool: z.string().min(1).max(200),
  pattern: z.string().max(1000).optional(),
  verdict: z.enum(['allow', 'ask', 'deny']),
})
export type Permission = z.infer<typeof Permission>

/** What a provider is asked beyond what every provider knows: by provider, then by option. */
export const ProviderOptions = z
  .record(z.string().max(100), z.record(z.string().max(200), z.json()))
  .refine((options) => JSON.stringify(options).length <= limits.providerOptionsCharsMax, {
    error: `at most ${limits.providerOptionsCharsMax} characters of JSON`,
  })
export type ProviderOptions = z.infer<typeof ProviderOptions>

/** What a person may change about a session at any time; it belongs to the session, not to a line. */
export const Settings = z.object({
  model: ModelName,
  thinkingLevel: ThinkingLevel,
  mode: Mode,
  title: z.string().max(200).optional(),
  budgets: Budgets,
  /** `destructive` when absent. */
  approvals: ApprovalRule.optional(),
  permissions: z.array(Permission).max(500).optional(),
  /** How long a question waits; for ever when absent. */
  approvalTimeoutMs: z.int().min(1).max(limits.approvalTimeoutMsMax).optional(),
})
export type Settings = z.infer<typeof Settings>

export const Activity = z.enum(['idle', 'thinking', 'tool_executing', 'error'])
export type Activity = z.infer<typeof Activity>

/** The one word for a session. `interrupted`: its owner died at work and nobody has taken it up yet. */
export const Status = z.enum(['idle', 'plan', 'thinking', 'tool_executing', 'error', 'interrupted'])
export type Status = z.infer<typeof Status>

/** Mode and activity in one word: the activity, except that a session at rest in plan mode says `plan`. */
export const statusOf = (mode: Mode, activity: Activity): Status =>
  mode === 'plan' && activity === 'idle' ? 'plan' : activity
