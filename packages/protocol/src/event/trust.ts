import { z } from 'zod'
import { BlobHash } from '../value/id.ts'

/** How long a standing approval lasts: until the turn ends, as long as the session, for every session of the workspace. */
export const TrustScope = z.enum(['turn', 'session', 'workspace'])
export type TrustScope = z.infer<typeof TrustScope>

/** A standing approval: for a tool, or for one exact call of it. */
export const Trust = z.object({
  tool: z.string().min(1).max(200),
  scope: TrustScope,
  /** Binds it to one set of arguments; for any when absent. */
  argsHash: BlobHash.optional(),
})
export type Trust = z.infer<typeof Trust>

export const TrustGranted = z.object({ type: z.literal('trust.granted'), ...Trust.shape })

/** Every trust in this tool is gone, or every trust there is. */
export const TrustRevoked = z.object({ type: z.literal('trust.revoked'), tool: z.string().nullable() })

/** Adds a trust; the same one, granted again, is still one. */
export function addTrust(known: readonly Trust[], { tool, scope, argsHash }: Trust): Trust[] {
  const same = (one: Trust) => one.tool === tool && one.scope === scope && one.argsHash === argsHash
  return [...known.filter((one) => !same(one)), { tool, scope, ...(argsHash !== undefined && { argsHash }) }]
}

/** The trust that answers for a call, the farthest-reaching first. */
export function findTrust(known: readonly Trust[], tool: string, argsHash: string): Trust | null {
  const fits = known.filter((one) => one.tool === tool && (one.argsHash === undefined || one.argsHash === argsHash))
  const byScope = (scope: Trust['scope']) => fits.find((one) => one.scope === scope)
  return byScope('workspace') ?? byScope('session') ?? byScope('turn') ?? null
}

/**
 * Whether an answer that reaches further than once covers this exact call only: a command says little of the next one, and
 * a note that the model will be told for ever says nothing of the next note.
 */
export const isTrustedExactly = (tool: string): boolean =>
  tool === 'shell' || tool === 'memory_write' || tool.startsWith('mcp__')
