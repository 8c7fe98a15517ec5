import type { SessionRegistry } from '@holdfast/core'
import { type Fault, fault, SessionId } from '@holdfast/protocol'
import type { LiveTokens } from '../tokens/live-tokens.ts'

/** What a forwarded request is about. */
export type RequestSubject = {
  readonly session: unknown
  /** The session is to be started, for this tenant and this parent. */
  readonly start?: { readonly tenant: unknown; readonly parent: unknown } | undefined
}

/** Returns a fault if the bearer of a caller is not valid any more, or not for this session. */
export type CheckBearer = (secret: string, subject: RequestSubject) => Promise<Fault | null>

/** A tree of sessions is never this deep. */
const depthMax = 64

/** Returns the check of a token that another node let in: whether it still counts, and is for the session. */
export function createBearerCheck(
  tokens: Pick<LiveTokens, 'find'>,
  { entry }: Pick<SessionRegistry['stores'], 'entry'>,
): CheckBearer {
  const read = async (given: unknown) => {
    const id = SessionId.safeParse(given)
    return id.success ? entry(id.data) : null
  }
  /** Whether a session is the one of a token, or was started for it, directly or indirectly. Forks are others. */
  async function isWithin(bound: SessionId, given: unknown): Promise<boolean> {
    let id = given
    for (let depth = 0; depth < depthMax; depth++) {
      if (id === bound) return true
      const row = await read(id)
      if (row === null || row.base > 0) return false
      id = row.entry.meta.parent
    }
    return false
  }

  return async (secret, { session, start }) => {
    const token = await tokens.find(secret)
    if (token === null) return unknownToken
    const isBound = token.session === null || (await isWithin(token.session, start ? start.parent : session))
    if (!isBound) return unknownToken
    const tenantOf = async () => (start ? (start.tenant ?? undefined) : (await read(session))?.tenant)
    const isItsTenant = start || token.tenant !== undefined ? (await tenantOf()) === token.tenant : true
    return isItsTenant ? null : unknownToken
  }
}

const unknownToken = fault('unauthorized', 'This token is unknown, was revoked or has expired.')
