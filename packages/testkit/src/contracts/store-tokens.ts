import type { StoredToken } from '@holdfast/core/ports'
import { SessionId, TokenId } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { type OpenStore, useStore } from './store-fixture.ts'

const idOf = (number: number) => TokenId.parse(`tok_${String(number).padStart(16, '0')}`)

/** Creates a token for a test of a store. */
export const aStoredToken = (number: number, change: Partial<StoredToken> = {}): StoredToken => ({
  id: idOf(number),
  hash: String(number).padStart(64, '0'),
  name: `token ${number}`,
  role: 'driver',
  session: null,
  createdAt: `2026-01-01T00:00:0${number}.000Z`,
  createdBy: null,
  expiresAt: null,
  lastUsedAt: null,
  ...change,
})

/** Describes the tokens of a store: it keeps every field, and forgets a removed token. */
export function describeTokens(open: OpenStore): void {
  const store = useStore(open)
  const bound = aStoredToken(2, {
    role: 'viewer',
    name: 'für 日本 \u202e',
    session: SessionId.parse(`ses_${'0'.repeat(26)}`),
    createdBy: 'login:abc',
    expiresAt: '2026-02-01T00:00:00.000Z',
  })

  describe('tokens', () => {
    it('are returned as they were added, in the order of their creation', async () => {
      expect(await store().tokens()).toEqual([])
      expect((await store().addToken(aStoredToken(1))).ok).toBe(true)
      expect((await store().addToken(bound)).ok).toBe(true)
      expect(await store().tokens()).toStrictEqual([aStoredToken(1), bound])
    })

    it('are gone once removed, and removing one twice says so', async () => {
      await store().addToken(aStoredToken(1))
      await store().addToken(bound)
      expect(await store().removeToken(idOf(1))).toEqual({ ok: true, value: true })
      expect(await store().removeToken(idOf(1))).toEqual({ ok: true, value: false })
      expect(await store().tokens()).toStrictEqual([bound])
    })

    it('know when they were used, and a removed one does not come back by that', async () => {
      await store().addToken(aStoredToken(1))
      expect((await store().touchToken(idOf(1), '2026-01-05T10:00:00.000Z')).ok).toBe(true)
      expect((await store().touchToken(idOf(9), '2026-01-05T10:00:00.000Z')).ok).toBe(true)
      expect(await store().tokens()).toStrictEqual([aStoredToken(1, { lastUsedAt: '2026-01-05T10:00:00.000Z' })])
      await store().removeToken(idOf(1))
      await store().touchToken(idOf(1), '2026-01-06T10:00:00.000Z')
      expect(await store().tokens()).toEqual([])
    })

    it('can be changed many at a time', async () => {
      const all = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => aStoredToken(number))
      await Promise.all(all.map((token) => store().addToken(token)))
      await Promise.all(all.slice(0, 4).map(({ id }) => store().removeToken(id)))
      expect((await store().tokens()).map(({ id }) => id).toSorted()).toEqual(all.slice(4).map(({ id }) => id))
    })
  })
}
