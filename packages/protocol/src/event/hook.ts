import { z } from 'zod'
import { CallId, TurnNumber } from '../value/id.ts'
import { Output } from './call.ts'

/** The moments at which hooks run, by the names that other programs use. */
export const HookEvent = z.enum([
  'PreToolUse',
  'PostToolUse',
  'UserPromptSubmit',
  'PreCompact',
  'SessionStart',
  'SessionEnd',
  'Stop',
  'SubagentStop',
  'Notification',
])
export type HookEvent = z.infer<typeof HookEvent>

/** One run of a hook, as it is recorded and shown. */
export const HookRun = z.object({
  /** The moment at which it ran. */
  event: HookEvent,
  /** Its command, or the name of its function. */
  hook: z.string(),
  /** Who brought it: the program, the user's configuration, or a trusted workspace. */
  source: z.enum(['program', 'user', 'workspace']),
  /** `blocked`: it refused what it was asked about. `failed`: it could not decide, which refuses what can be refused. */
  outcome: z.enum(['ok', 'blocked', 'failed']),
  /** Why it blocked or failed. */
  reason: z.string().optional(),
  /** What it said about the approval of a call. */
  permission: z.enum(['allow', 'ask']).optional(),
  /** It changed the arguments of a call, or the result. */
  changed: z.literal(true).optional(),
  /** Why it ends the turn, if it does. */
  stop: z.string().optional(),
  /** What it tells the model. */
  context: z.string().optional(),
  /** What it says to the person. */
  message: z.string().optional(),
  /** How long it ran. */
  durationMs: z.number().min(0),
  /** What it printed; absent if that is nothing. */
  output: Output.omit({ fileParts: true }).optional(),
})
export type HookRun = z.infer<typeof HookRun>

/** Says what a hook did, in one line. */
export function hookText({ event, hook, outcome, reason, permission, changed, stop, message }: HookRun): string {
  const did = [
    ...(outcome === 'ok' ? [] : [`${outcome}${reason === undefined ? '' : `: ${reason}`}`]),
    ...(permission === 'ask' ? ['asks a person'] : permission === 'allow' ? ['allows the call'] : []),
    ...(changed ? [event === 'PostToolUse' ? 'changed the result' : 'changed the arguments'] : []),
    ...(stop === undefined ? [] : [`ends the turn: ${stop}`]),
    ...(message === undefined ? [] : [message]),
  ]
  return `${event} hook ${hook}: ${did.length === 0 ? 'ok' : did.join('; ')}`
}

export const hookEvents = [
  /** A hook ran. What it told the model is recorded where the model gets it. */
  z.object({
    type: z.literal('hook.ran'),
    turn: TurnNumber,
    /** The call that it was about, if any. */
    about: CallId.optional(),
    ...HookRun.shape,
  }),
] as const
