import { z } from 'zod'
import { BlobHash } from '../value/id.ts'

/** How far a standing approval reaches: this turn, this session, or every session of the workspace. */
export const TrustScope = z.enum(['turn', 'session', 'workspace'])
export type TrustScope = z.infer<typeof TrustScope>

/** A standing approval: for a tool, or for one exact call of it. */
export const Trust = z.object({
  /** The tool that runs without asking. */
  tool: z.string().min(1).max(200),
  /** How long: a turn, a session or a workspace. */
  scope: TrustScope,
  /** Limits it to one set of arguments; any arguments when absent. */
  argsHash: BlobHash.optional(),
})
export type Trust = z.infer<typeof Trust>

export const trustEvents = [
  z.object({ type: z.literal('trust.granted'), ...Trust.shape }),
  /** Trust in this tool was revoked; in all tools when null. */
  z.object({ type: z.literal('trust.revoked'), tool: z.string().nullable() }),
] as const

/** Adds a trust, without duplicates. */
export function addTrust(known: readonly Trust[], { tool, scope, argsHash }: Trust): Trust[] {
  const same = (one: Trust) => one.tool === tool && one.scope === scope && one.argsHash === argsHash
  return [...known.filter((one) => !same(one)), { tool, scope, ...(argsHash !== undefined && { argsHash }) }]
}

/** Returns the widest trust that covers a call, or null. */
export function findTrust(known: readonly Trust[], tool: string, argsHash: string): Trust | null {
  const fits = known.filter((one) => one.tool === tool && (one.argsHash === undefined || one.argsHash === argsHash))
  const byScope = (scope: Trust['scope']) => fits.find((one) => one.scope === scope)
  return byScope('workspace') ?? byScope('session') ?? byScope('turn') ?? null
}

/**
 * Whether trust in this tool covers only calls with the same arguments. Approving one command or memory note says
 * nothing about the next.
 */
export const isTrustedExactly = (tool: string): boolean =>
  tool === 'shell' || tool === 'memory_write' || tool.startsWith('mcp__')
