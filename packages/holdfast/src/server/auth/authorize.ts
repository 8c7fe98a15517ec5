import { type Fault, fault, type TokenRole } from '@holdfast/protocol'
import type { Caller } from './access.ts'

/**
 * Who may call a route or send a command. `role` is the least role that may; `open` needs no token. `bound` is the least
 * role of a token for one session, which then sees only that session; null for none. `isOfServer`: it applies to the whole
 * server, so that no token of a tenant may.
 */
export type DeclaredAccess = {
  readonly role: 'open' | TokenRole
  readonly bound: TokenRole | null
  readonly isOfServer?: true
}

const rank = { viewer: 0, driver: 1, admin: 2 } as const

/** Returns why the caller may not; null if it may. The only place where roles are compared. */
export function findRefusal(caller: Caller, { role, bound, isOfServer }: DeclaredAccess, what: string): Fault | null {
  const least = caller.session === null ? role : bound
  // `needs` tells a client that its token is refused, and not that another client drives, which names the `driver`.
  if (least === null)
    return fault('not_driver', `This token is for one session. ${what} needs a token for all sessions.`, {
      needs: role,
      role: caller.role,
      session: caller.session,
    })
  if (isOfServer && caller.tenant !== null)
    return fault('not_driver', `This token is of a tenant. ${what} applies to the whole server.`, {
      needs: role,
      role: caller.role,
      tenant: caller.tenant,
    })
  if (least === 'open' || rank[caller.role] >= rank[least]) return null
  const now = caller.role === 'viewer' ? 'This token may only read.' : 'This token may not do that.'
  return fault('not_driver', `${now} ${what} needs the role ${least}.`, { needs: least, role: caller.role })
}
