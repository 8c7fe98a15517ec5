import { z } from 'zod'

/** Where a server is: `known` starts when it is needed, `untrusted` waits for a person's trust, `off` is turned off in its file. */
export const ServerState = z.enum(['known', 'starting', 'ready', 'failed', 'needs_sign_in', 'untrusted', 'off'])
export type ServerState = z.infer<typeof ServerState>

/** A server of the Model Context Protocol, as a session sees it. */
export const SessionServer = z.object({
  /** Its name in the configuration. */
  name: z.string(),
  /** Who configured it. */
  scope: z.enum(['user', 'workspace']),
  /** Where it is now. All sessions of a workspace share it. */
  state: ServerState,
  /** Whether this session uses it. */
  isOn: z.boolean(),
  /** Why it failed, or why a person must sign in; null if nothing is wrong. */
  why: z.string().nullable(),
  /** How many tools it has; null if it was never asked. */
  tools: z.int().min(0).nullable(),
  /** Its command or its URL. */
  target: z.string(),
  /** What of it cannot be used, in sentences. */
  problems: z.array(z.string()),
})
export type SessionServer = z.infer<typeof SessionServer>

export const ServerList = z.object({ servers: z.array(SessionServer) })
