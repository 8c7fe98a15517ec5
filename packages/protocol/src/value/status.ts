import { z } from 'zod'
import type { Mode } from './settings.ts'

export const Activity = z.enum(['idle', 'thinking', 'tool_executing', 'error'])
export type Activity = z.infer<typeof Activity>

/** The one word for a session. `interrupted`: its owner died at work and nobody has taken it up yet. */
export const Status = z.enum(['idle', 'plan', 'thinking', 'tool_executing', 'error', 'interrupted'])
export type Status = z.infer<typeof Status>

/** Mode and activity in one word: the activity, except that a session at rest in plan mode says `plan`. */
export const statusOf = (mode: Mode, activity: Activity): Status =>
  mode === 'plan' && activity === 'idle' ? 'plan' : activity
