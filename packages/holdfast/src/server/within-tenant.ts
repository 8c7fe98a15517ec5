import type { ServerDeps, ServerTenants } from './define/server-deps.ts'

type Scoped = Pick<ServerDeps, 'sessions' | 'transfer' | 'storedTokens'>

/**
 * Returns the sessions, exports and tokens that a token of a tenant reaches: those of the tenant. Whatever else the server
 * has is of the server, and closed to such tokens: `isOfServer` in the table of roles.
 */
export function withinTenant(
  { transfer, storedTokens }: Scoped,
  tenants: Pick<ServerTenants, 'sessions'>,
  tenant: string,
): Scoped {
  const sessions = tenants.sessions(tenant)
  return {
    sessions,
    transfer: {
      ...transfer,
      async export(name, options) {
        const opened = await sessions.open(name)
        return opened.ok ? transfer.export(opened.value.id, options) : opened
      },
    },
    storedTokens: storedTokens && { ...storedTokens, ...storedTokens.within(tenant) },
  }
}
