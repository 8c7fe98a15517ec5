import type { SessionRegistry } from '@holdfast/core'
import { type Fault, fault, SessionId } from '@holdfast/protocol'
import type { LiveTokens } from '../tokens/live-tokens.ts'

/** Returns a fault if the bearer of a caller is not valid any more, or not for this session. */
export type CheckBearer = (secret: string, session: unknown) => Promise<Fault | null>

/** Returns the check of a token that another node let in: whether it still counts, and is for the session. */
export function createBearerCheck(
  tokens: Pick<LiveTokens, 'find'>,
  stores: Pick<SessionRegistry['stores'], 'entry'>,
): CheckBearer {
  return async (secret, session) => {
    const token = await tokens.find(secret)
    const isItsSession = token && (token.session === null || token.session === session)
    const id = isItsSession && token.tenant !== undefined ? SessionId.safeParse(session) : null
    if (isItsSession && id === null) return null
    if (id?.success && (await stores.entry(id.data))?.tenant === token?.tenant) return null
    return fault('unauthorized', 'This token is unknown, was revoked or has expired.')
  }
}
