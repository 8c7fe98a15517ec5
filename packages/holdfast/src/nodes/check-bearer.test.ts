import type { StoredToken } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { entryOf, sessionId } from '@holdfast/testkit/contracts'
import { describe, expect, it } from 'vitest'
import { createBearerCheck } from './check-bearer.ts'

type Row = { readonly parent?: SessionId; readonly base?: number; readonly tenant?: string }

/** Creates the check for one token, in a store with these sessions. */
function checkOf(token: Partial<StoredToken>, rows: ReadonlyMap<SessionId, Row> = new Map()) {
  const find = async (secret: string) => (secret === 'right' ? ({ session: null, ...token } as StoredToken) : null) // the other fields are not read
  const check = createBearerCheck(
    { find },
    {
      async entry(id) {
        const row = rows.get(id)
        if (!row) return null
        const { parent, base = 0, tenant } = row
        const entry = entryOf(1, { meta: { ...(parent !== undefined && { parent }) } })
        return { entry, head: 1, base, owner: null, trashedAt: null, ...(tenant !== undefined && { tenant }) }
      },
    },
  )
  return async (subject: Parameters<typeof check>[1], secret = 'right') =>
    (await check(secret, subject)) === null ? 'ok' : 'refused'
}

const [bound, child, grandchild, fork, other] = [1, 2, 3, 4, 5].map(sessionId) as [
  ...[SessionId, SessionId, SessionId, SessionId, SessionId],
] // five of them
const tree = new Map<SessionId, Row>([
  [bound, {}],
  [child, { parent: bound }],
  [grandchild, { parent: child }],
  [fork, { parent: bound, base: 3 }],
  [other, { parent: other }],
])

describe('the bearer of a forwarded request', () => {
  it('of one session counts there and in those that were started for it, not in forks and others', async () => {
    const check = checkOf({ session: bound }, tree)
    const answers = await Promise.all([bound, child, grandchild, fork, other].map((session) => check({ session })))
    expect(answers).toEqual(['ok', 'ok', 'ok', 'refused', 'refused'])
    expect(await check({ session: 'no id' })).toBe('refused')
    expect(await check({ session: bound }, 'wrong')).toBe('refused')
  })

  it('of a tenant counts for its sessions only', async () => {
    const rows = new Map<SessionId, Row>([
      [bound, { tenant: 'acme' }],
      [other, {}],
    ])
    const check = checkOf({ tenant: 'acme' }, rows)
    expect(await check({ session: bound })).toBe('ok')
    for (const session of [other, child, undefined]) expect(await check({ session })).toBe('refused')
  })

  it('may start sessions of its own tenant, and for its own session', async () => {
    const start = (tenant: unknown, parent?: SessionId) => ({ session: grandchild, start: { tenant, parent } })
    const ofTenant = checkOf({ tenant: 'acme' })
    expect(await ofTenant(start('acme'))).toBe('ok')
    expect(await ofTenant(start('umbrella'))).toBe('refused')
    expect(await ofTenant(start(null))).toBe('refused')
    expect(await checkOf({})(start(null))).toBe('ok')
    expect(await checkOf({})(start('acme'))).toBe('refused')
    const ofSession = checkOf({ session: bound }, tree)
    expect(await ofSession(start(null, child))).toBe('ok')
    expect(await ofSession(start(null, other))).toBe('refused')
    expect(await ofSession(start(null))).toBe('refused')
  })
})
