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
