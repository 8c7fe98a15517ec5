import type { Store, Tenants } from '@holdfast/core/ports'
import { BlobHash, TokenId } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import {
  appendTo,
  codeOf,
  entryOf,
  handleOf,
  key,
  mustAppend,
  mustCreate,
  newSession,
  type OpenStore,
  recordAt,
  sessionId,
  textSaid,
  useStore,
} from './store-fixture.ts'
import { aStoredToken } from './store-tokens.ts'

const ofTenant = (number: number, tenant: string | undefined, text = 'a red apple', meta = {}) =>
  newSession(number, { records: [recordAt(1, textSaid(text))], entry: entryOf(number, { meta }), tenant })

/** Describes a store that keeps tenants apart. A name with quotes and wildcards is a name like any other. */
export function describeTenants(name: string, open: OpenStore): void {
  const store = useStore(open)
  const tenants = (): Tenants => {
    const known = store().tenants
    if (known === undefined) throw new Error('the store keeps no tenants apart')
    return known
  }
  const [first, second] = [`a'; drop table session; --`, '%_']

  describe(`${name} store with tenants`, () => {
    it('lists, finds and searches only the sessions of a tenant', async () => {
      await mustCreate(store(), ofTenant(1, first))
      await mustCreate(store(), ofTenant(2, second))
      await mustCreate(store(), ofTenant(3, undefined))
      const seenBy = async (tenant?: string) => ({
        listed: (await store().list({ limit: 9, tenant })).sessions.map(({ meta }) => meta.id).toSorted(),
        found: await hitsOf(store(), tenant),
        byId: await store().find({ type: 'id', id: sessionId(1) }, tenant),
        byPrefix: await store().find({ type: 'prefix', prefix: sessionId(1).slice(0, -1) }, tenant),
        byHandle: await store().find({ type: 'handle', handle: handleOf(1) }, tenant),
        latest: await store().find({ type: 'latest', workspace: entryOf(1).meta.workspace }, tenant),
      })
      const [one, two, three] = [[sessionId(1)], [sessionId(2)], [sessionId(3)]]
      expect(await seenBy(first)).toEqual({
        listed: one,
        found: one,
        byId: one,
        byPrefix: one,
        byHandle: one,
        latest: one,
      })
      expect(await seenBy(second)).toEqual({
        listed: two,
        found: two,
        byId: [],
        byPrefix: two,
        byHandle: [],
        latest: two,
      })
      const none = { listed: [], found: [], byId: [], byPrefix: [], byHandle: [], latest: [] }
      expect(await seenBy('_%')).toEqual(none)
      const all = [...one, ...two, ...three]
      expect(await seenBy()).toMatchObject({ listed: all, found: all, byId: one, byPrefix: all, latest: three })
      expect([(await store().entry(sessionId(1)))?.tenant, (await store().entry(sessionId(3)))?.tenant]).toEqual([
        first,
        undefined,
      ])
      expect((await store().list({ limit: 9, tenant: second, trashed: true })).sessions).toEqual([])
      await store().release(sessionId(1), newSession(1).owner, 1)
      await store().trash(sessionId(1), 5)
      expect((await store().list({ limit: 9, tenant: second, trashed: true })).sessions).toEqual([])
      expect((await store().list({ limit: 9, tenant: first, trashed: true })).sessions).toHaveLength(1)
    })

    it('searches one session only for its own tenant', async () => {
      await mustCreate(store(), ofTenant(1, first))
      expect(await hitsOf(store(), first, 1)).toEqual([sessionId(1)])
      expect(await hitsOf(store(), second, 1)).toEqual([])
    })

    it('keeps the keys of tenants apart', async () => {
      const named = { key: key('issue-7') }
      await mustCreate(store(), ofTenant(1, first, 'a', named))
      await mustCreate(store(), ofTenant(2, second, 'a', named))
      await mustCreate(store(), ofTenant(3, undefined, 'a', named))
      expect(codeOf(await store().create(ofTenant(4, second, 'a', named)))).toBe('key_taken')
      expect(codeOf(await store().create(ofTenant(5, undefined, 'a', named)))).toBe('key_taken')
      const find = (tenant?: string) => store().find({ type: 'key', ...named }, tenant)
      expect([await find(first), await find(second), await find()]).toEqual([
        [sessionId(1)],
        [sessionId(2)],
        [sessionId(3)],
      ])
    })

    it('gives a fork and a session that was started for another one its tenant', async () => {
      await mustCreate(store(), ofTenant(1, first))
      await mustCreate(store(), newSession(2, { parent: sessionId(1), base: 1, records: [recordAt(2, textSaid('b'))] }))
      await mustCreate(store(), newSession(3, { entry: entryOf(3, { meta: { parent: sessionId(1) } }) }))
      expect([(await store().entry(sessionId(2)))?.tenant, (await store().entry(sessionId(3)))?.tenant]).toEqual([
        first,
        first,
      ])
    })

    it('lets no session of a tenant revoke the trust of a workspace', async () => {
      await mustCreate(store(), newSession(1), ofTenant(2, first))
      const trust = { tool: 'shell', scope: 'workspace' } as const
      await mustAppend(store(), appendTo(1, 1, { trust: [{ type: 'granted', trust }] }))
      await mustAppend(store(), appendTo(2, 1, { trust: [{ type: 'revoked', tool: null }] }))
      expect(await store().workspaceTrust('/work')).toEqual([trust])
      await mustAppend(store(), appendTo(1, 2, { trust: [{ type: 'revoked', tool: 'shell' }] }))
      expect(await store().workspaceTrust('/work')).toEqual([])
    })

    it('knows the tenant of a token and who stored a file', async () => {
      const token = aStoredToken(1, { tenant: first, id: TokenId.parse(`tok_${'a'.repeat(16)}`) })
      await store().addToken(token)
      expect(await store().tokens()).toStrictEqual([token])
      const hash = BlobHash.parse('a'.repeat(64))
      expect(codeOf(await tenants().addFile(first, hash))).toBe('ok')
      expect(codeOf(await tenants().addFile(first, hash))).toBe('ok')
      expect([await tenants().hasFile(first, hash), await tenants().hasFile(second, hash)]).toEqual([true, false])
    })
  })
}

async function hitsOf(store: Store, tenant: string | undefined, within?: number) {
  const session = within === undefined ? undefined : sessionId(within)
  const found = await store.search({ text: 'apple', limit: 9, tenant, session })
  if (!found.ok) throw new Error(found.fault.message)
  return found.value.hits.map((hit) => hit.session).toSorted()
}
