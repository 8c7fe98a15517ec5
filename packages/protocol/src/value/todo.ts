import { z } from 'zod'
import { limits } from './limits.ts'

/** A task of the agent's own list. */
export const Todo = z.object({
  /** Names the task in later lists. */
  id: z.string().min(1).max(limits.todoIdCharsMax),
  /** What is to be done. */
  description: z.string().min(1).max(limits.todoCharsMax),
  /** How far it is. */
  status: z.enum(['pending', 'in_progress', 'done']),
})
export type Todo = z.infer<typeof Todo>
