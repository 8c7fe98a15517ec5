import type { Problem, TokenRows } from '@holdfast/core/ports'
import { fault, HoldfastError, limits, ok, orThrow, refuse, SessionId, sessionNotFound } from '@holdfast/protocol'
import { createVirtualClock, type VirtualClock } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../store/memory/memory-store.ts'
import { createLiveTokens } from './live-tokens.ts'
import { hashToken } from './token-secret.ts'

const known = SessionId.parse(`ses_${'0'.repeat(26)}`)

function openTokens(rows: TokenRows = createMemoryStore()) {
  const clock = createVirtualClock()
  const problems: Problem[] = []
  const tokens = createLiveTokens({
    rows,
    clock,
    onProblem: (problem) => problems.push(problem),
    findSession: async (name) =>
      name === known || name === 'calm-harbor-12' ? ok(known) : refuse(sessionNotFound(name)),
  })
  return { rows, clock, tokens, problems }
}

/** Lets time pass, and what is due then run to its end. */
async function pass(clock: VirtualClock, ms: number): Promise<void> {
  clock.advance(ms)
  await new Promise((resolve) => setImmediate(resolve))
}

describe('tokens', () => {
  it('are returned once with their secret, and only its hash is stored', async () => {
    const { rows, tokens } = openTokens()
    const created = orThrow(await tokens.create({ name: 'phone', role: 'driver' }, 'login:a'))
    expect(created).toMatchObject({
      name: 'phone',
      role: 'driver',
      session: null,
      createdBy: 'login:a',
      expiresAt: null,
    })
    expect(created.secret).toMatch(/^holdfast_[\w-]{43}$/)
    const [stored] = await rows.tokens()
    expect(stored?.hash).toBe(hashToken(created.secret))
    expect(JSON.stringify([stored, await tokens.list()])).not.toContain(created.secret)
    expect(await tokens.find(created.secret)).toMatchObject({ id: created.id })
    for (const wrong of ['', stored?.hash ?? '', `${created.secret}x`, created.id])
      expect(await tokens.find(wrong)).toBeNull()
  })

  it('are bound to the session that a name means', async () => {
    const { tokens } = openTokens()
    const bound = await tokens.create({ name: 'a', role: 'viewer', session: 'calm-harbor-12' })
    expect(bound).toMatchObject({ ok: true, value: { session: known } })
    const nobody = await tokens.create({ name: 'a', role: 'viewer', session: 'nobody-here-1' })
    expect(nobody).toMatchObject({ ok: false, fault: { code: 'session_not_found' } })
    expect(orThrow(await tokens.list())).toHaveLength(1)
  })

  it.each([
    ['an admin token for one session', { name: 'a', role: 'admin', session: known }],
    ['no name', { role: 'viewer' }],
    ['an empty name', { name: '', role: 'viewer' }],
    ['a long name', { name: 'x'.repeat(101), role: 'viewer' }],
    ['a name of two lines', { name: 'a\nb', role: 'viewer' }],
    ['an unknown role', { name: 'a', role: 'root' }],
    ['an unknown field', { name: 'a', role: 'viewer', hash: 'x' }],
    ['an end in the past', { name: 'a', role: 'viewer', expiresAt: '2020-01-01' }],
    ['an end in a thousand years', { name: 'a', role: 'viewer', expiresIn: '300000d' }],
    ['two ends', { name: 'a', role: 'viewer', expiresAt: '2027-01-01', expiresIn: '1d' }],
    ['no age', { name: 'a', role: 'viewer', expiresIn: 'soon' }],
  ])('are refused with %s', async (_, options) => {
    const { rows, tokens } = openTokens()
    expect(await tokens.create(options as never)).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
    expect(await rows.tokens()).toEqual([])
  })

  it('are refused here at once if they are revoked and the disk is full', async () => {
    const rows = createMemoryStore()
    const full = fault('storage_error', 'The disk is full.')
    const removeToken: TokenRows['removeToken'] = async () => refuse(full)
    const { tokens } = openTokens({ ...rows, removeToken })
    const { secret, id } = orThrow(await tokens.create({ name: 'phone', role: 'driver' }))
    const { ended } = tokens.watch(id)
    expect(await tokens.find(secret)).not.toBeNull()
    const revoked = await tokens.revoke('phone')
    expect(revoked).toMatchObject({ ok: false, fault: { code: 'storage_error', details: { token: id } } })
    expect(!revoked.ok && revoked.fault.message).toMatch(/^The token phone is refused until this program ends, .*full/)
    expect([ended.aborted, await tokens.find(secret), await tokens.get(id)]).toEqual([true, null, null])
  })

  it('of another process are found at once, and what looks like no token is not looked for', async () => {
    const rows = createMemoryStore()
    let readings = 0
    const counted: TokenRows = { ...rows, tokens: () => Promise.resolve(++readings).then(() => rows.tokens()) }
    const [here, there] = [openTokens(counted), openTokens(rows)]
    const missing = `holdfast_${'x'.repeat(43)}`
    expect(await here.tokens.find(missing)).toBeNull()
    const { secret, id } = orThrow(await there.tokens.create({ name: 'phone', role: 'driver' }))
    const before = readings
    const found = await Promise.all([here.tokens.find(secret), here.tokens.find(secret), here.tokens.find(missing)])
    expect(found.map((token) => token?.id)).toEqual([id, id, undefined])
    expect(readings).toBe(before + 1)
    for (const other of ['', 'a password']) expect(await here.tokens.find(other)).toBeNull()
    expect(readings).toBe(before + 1)
  })

  it('are never used before they were made', async () => {
    const { rows, clock, tokens } = openTokens()
    await pass(clock, 1_800_000) // half past the hour
    const { secret, createdAt } = orThrow(await tokens.create({ name: 'a', role: 'viewer' }))
    await tokens.find(secret)
    expect((await rows.tokens())[0]?.lastUsedAt).toBe(createdAt)
  })

  it('end when they expire', async () => {
    const { clock, tokens } = openTokens()
    const { secret, id, expiresAt } = orThrow(await tokens.create({ name: 'a', role: 'viewer', expiresIn: '1h' }))
    expect(expiresAt).toBe('2026-01-01T01:00:00.000Z')
    const { ended } = tokens.watch(id)
    await pass(clock, 3_600_000 - 1)
    expect([ended.aborted, (await tokens.find(secret))?.id]).toEqual([false, id])
    await pass(clock, 1000)
    expect([ended.aborted, await tokens.find(secret), await tokens.get(id)]).toEqual([true, null, null])
    expect(orThrow(await tokens.list())).toHaveLength(1)
  })

  it('are revoked by id or by a name that is unique, at once', async () => {
    const { tokens } = openTokens()
    const one = orThrow(await tokens.create({ name: 'phone', role: 'viewer' }))
    const two = orThrow(await tokens.create({ name: 'phone', role: 'viewer' }))
    const { ended } = tokens.watch(one.id)
    expect(await tokens.revoke('phone')).toMatchObject({ ok: false, fault: { code: 'bad_id' } })
    expect(await tokens.revoke('tablet')).toMatchObject({ ok: false, fault: { code: 'not_found' } })
    expect(await tokens.revoke(one.id)).toMatchObject({ ok: true, value: { id: one.id } })
    expect([ended.aborted, await tokens.find(one.secret)]).toEqual([true, null])
    expect(await tokens.revoke('phone')).toMatchObject({ ok: true, value: { id: two.id } })
  })

  it('that another process revokes or creates are noticed within a second', async () => {
    const { rows, clock, tokens } = openTokens()
    const elsewhere = openTokens(rows)
    const { id, secret } = orThrow(await tokens.create({ name: 'a', role: 'viewer' }))
    expect(await tokens.find(secret)).not.toBeNull()
    const { ended } = tokens.watch(id)
    await elsewhere.tokens.revoke(id)
    expect(ended.aborted).toBe(false)
    await pass(clock, limits.tokenCheckMs)
    expect([ended.aborted, await tokens.find(secret)]).toEqual([true, null])
    const late = orThrow(await elsewhere.tokens.create({ name: 'b', role: 'viewer' }))
    await pass(clock, limits.tokenCheckMs)
    expect(await tokens.find(late.secret)).not.toBeNull()
  })

  it('need no timer while nothing is open', async () => {
    const { clock, tokens } = openTokens()
    const { id } = orThrow(await tokens.create({ name: 'a', role: 'viewer' }))
    const [first, second] = [tokens.watch(id), tokens.watch(id)]
    expect(clock.nextMs()).toBe(limits.tokenCheckMs)
    first.release()
    first.release()
    expect(clock.nextMs()).toBe(limits.tokenCheckMs)
    second.release()
    expect(clock.nextMs()).toBeNull()
  })

  it('record their use to the hour, and only once', async () => {
    const { rows, clock, tokens } = openTokens()
    const { secret } = orThrow(await tokens.create({ name: 'a', role: 'viewer' }))
    let touches = 0
    const touch = rows.touchToken
    rows.touchToken = (...given) => {
      touches += 1
      return touch(...given)
    }
    await pass(clock, 90 * 60_000)
    for (let count = 0; count < 5; count++) await tokens.find(secret)
    expect([touches, (await rows.tokens())[0]?.lastUsedAt]).toEqual([1, '2026-01-01T01:00:00.000Z'])
  })

  it('let nobody in while the store cannot be read', async () => {
    const { rows, clock, tokens, problems } = openTokens()
    const { id, secret } = orThrow(await tokens.create({ name: 'a', role: 'viewer', expiresIn: '1h' }))
    const { ended } = tokens.watch(id)
    rows.tokens = async () => {
      throw new HoldfastError(fault('storage_error', 'The disk is gone.'))
    }
    await pass(clock, limits.tokenCheckMs)
    await expect(tokens.find(secret)).rejects.toThrow('The disk is gone.')
    expect(problems.length).toBeGreaterThan(0)
    await pass(clock, 3_600_000)
    expect(ended.aborted).toBe(true)
  })

  it('have a limit, and expired ones make room', async () => {
    const { rows, clock, tokens } = openTokens()
    const first = orThrow(await tokens.create({ name: 'first', role: 'viewer', expiresIn: '1h' }))
    const [stored] = await rows.tokens()
    if (!stored) throw new Error('it is stored')
    for (let count = 1; count < limits.tokensMax; count++)
      await rows.addToken({ ...stored, id: `tok_${String(count).padStart(16, '0')}`, expiresAt: null })
    expect(await tokens.create({ name: 'more', role: 'viewer' })).toMatchObject({
      ok: false,
      fault: { code: 'too_large' },
    })
    await pass(clock, 3_600_000)
    expect((await tokens.create({ name: 'more', role: 'viewer' })).ok).toBe(true)
    expect((await rows.tokens()).some(({ id }) => id === first.id)).toBe(false)
  })
})
