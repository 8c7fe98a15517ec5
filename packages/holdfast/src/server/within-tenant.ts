import { ok } from '@holdfast/protocol'
import type { ServerDeps, ServerTenants } from './define/server-deps.ts'

type Scoped = Pick<ServerDeps, 'sessions' | 'transfer' | 'storedTokens' | 'tools'>

/**
 * Returns the sessions, exports and tokens that a token of a tenant reaches: those of the tenant. Tools are listed with what
 * happens to their calls, but without the rules. Whatever else the server has is of the server, and closed to such tokens:
 * `isOfServer` in the table of roles.
 */
export function withinTenant(
  { transfer, storedTokens, tools }: Scoped,
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
    tools: {
      async list(of) {
        const listed = await tools.list(of)
        if (!listed.ok) return listed
        return ok({ ...listed.value, tools: listed.value.tools.map((tool) => ({ ...tool, rules: [] })) })
      },
    },
    storedTokens: storedTokens && { ...storedTokens, ...storedTokens.within(tenant) },
  }
}
