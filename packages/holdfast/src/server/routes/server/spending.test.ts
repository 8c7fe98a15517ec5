import { Access, CreatedToken, ListedCap, ok, orThrow, Spending, type TokenOptions } from '@holdfast/protocol'
import { createVirtualClock, finish, say, scriptedUsage } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createSpendingCaps } from '../../../open/spending-caps.ts'
import { createMemoryStore } from '../../../store/memory/memory-store.ts'
import type { RateLimit } from '../../../system/config/config.ts'
import { createLiveTokens } from '../../../tokens/live-tokens.ts'
import { openRuntimeServer } from '../../testing/runtime-server.ts'
import { codeOf } from '../../testing/test-server.ts'

/** Opens a server on a real runtime whose model answers each prompt for 0.25 dollars. */
async function openSpendingServer(rateLimit?: RateLimit) {
  const script = () => [say('Done.'), finish('stop', { ...scriptedUsage, cost: 0.25 })]
  const [store, clock] = [createMemoryStore(), createVirtualClock()]
  const spendingCaps = createSpendingCaps({
    rows: store,
    given: [],
    now: clock.now,
    resolveWorkdir: async (path) => ok(path),
  })
  const overrides = { spending: spendingCaps, ...(rateLimit && { rateLimit }) }
  const test = await openRuntimeServer(overrides, undefined, { store, clock, script }, undefined, (runtime) =>
    createLiveTokens({
      rows: store,
      clock,
      onProblem: () => undefined,
      findSession: async (name) => ({ ok: true, value: name as typeof runtime.handle.id }),
    }),
  )
  const asAdmin = { authorization: `Bearer ${test.tokens.admin}` }
  const create = async (options: TokenOptions) =>
    CreatedToken.parse(await (await test.post('/v1/tokens', JSON.stringify(options), asAdmin)).json())
  const as = (secret: string) => ({ authorization: `Bearer ${secret}` })
  const { id } = test.runtime.handle
  let sent = 0
  const prompt = async (secret: string) => {
    const { view, seq } = orThrow(await test.runtime.handle.snapshot())
    const command = JSON.stringify({ type: 'sendPrompt', content: `prompt ${++sent} after ${view.lastTurn?.reason}` })
    const answer = await test.post(`/v1/sessions/${id}/commands`, command, as(secret))
    if (answer.status === 202)
      for await (const frame of test.runtime.handle.subscribe({ after: seq }))
        if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
    return answer
  }
  const spending = async () => Spending.parse(await (await test.call('/v1/spending', { headers: asAdmin })).json())
  return { ...test, asAdmin, as, create, prompt, spending, id }
}

describe('/v1/caps and /v1/spending', () => {
  it('cap one token and not another, tell what was spent, and let work go on when the cap is raised', async () => {
    await using test = await openSpendingServer()
    const anna = await test.create({ name: 'anna', role: 'driver' })
    const ben = await test.create({ name: 'ben', role: 'driver' })
    const set = await test.post('/v1/caps', JSON.stringify({ token: 'anna', maxCost: 0.5 }), test.asAdmin)
    expect(ListedCap.parse(await set.json())).toMatchObject({ token: anna.id, maxCost: 0.5, isReached: false })

    expect([(await test.prompt(anna.secret)).status, (await test.prompt(anna.secret)).status]).toEqual([202, 202])
    const refused = await test.prompt(anna.secret)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '86400'])
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'spending_cap',
        message: expect.stringContaining(`The cap of $0.50 a day for the token anna (${anna.id})`),
      },
    })
    expect((await test.prompt(ben.secret)).status).toBe(202)

    expect(await test.spending()).toMatchObject({
      day: '2026-01-01',
      opensAt: '2026-01-02T00:00:00.000Z',
      total: { calls: 3, cost: 0.75 },
      tokens: [
        { token: anna.id, name: 'anna', cost: 0.5 },
        { token: ben.id, name: 'ben', cost: 0.25 },
      ],
      workspaces: [{ workspace: '/work', cost: 0.75 }],
      caps: [{ token: anna.id, setBy: 'person', isReached: true, spent: { cost: 0.5 } }],
    })

    const own = await test.call('/v1/access', { headers: test.as(anna.secret) })
    expect(Access.parse(await own.json())).toMatchObject({
      role: 'driver',
      token: { id: anna.id, name: 'anna' },
      caps: [{ token: anna.id, name: 'anna', maxCost: 0.5, isReached: true }],
    })
    const other = await test.call('/v1/access', { headers: test.as(ben.secret) })
    expect(Access.parse(await other.json())).toMatchObject({ token: { name: 'ben' }, caps: [] })

    await test.post('/v1/caps', JSON.stringify({ token: anna.id, maxCost: 1 }), test.asAdmin)
    expect((await test.prompt(anna.secret)).status).toBe(202)
    const removed = await test.call(`/v1/caps?token=${anna.id}`, { method: 'DELETE', headers: test.asAdmin })
    expect(ListedCap.parse(await removed.json())).toMatchObject({ token: anna.id, maxCost: 1 })
    expect((await test.spending()).caps).toEqual([])
  })

  it('refuse bad input and other roles, and change nothing', async () => {
    await using test = await openSpendingServer()
    const driver = await test.create({ name: 'driver', role: 'driver' })
    for (const body of [
      ...['{}', '{"maxCost":-1}', '{"maxCost":"5"}', '{"maxTokens":1.5}', '{"maxCost":1,"per":"month"}'],
      '{"maxCost":1,"token":"driver","workspace":"/work"}',
    ])
      expect([body, (await test.post('/v1/caps', body, test.asAdmin)).status]).toEqual([body, 400])
    const unknown = await test.post('/v1/caps', '{"maxCost":1,"token":"nobody"}', test.asAdmin)
    expect(await codeOf(unknown)).toBe('not_found')
    const relative = await test.post('/v1/caps', '{"maxCost":1,"workspace":"here"}', test.asAdmin)
    expect(await codeOf(relative)).toBe('bad_workdir')
    expect(await codeOf(await test.call('/v1/caps', { method: 'DELETE', headers: test.asAdmin }))).toBe('not_found')
    expect(await codeOf(await test.call('/v1/spending?day=yesterday', { headers: test.asAdmin }))).toBe('bad_request')
    expect(await codeOf(await test.post('/v1/caps', '{"maxCost":1}', test.as(driver.secret)))).toBe('not_driver')
    expect((await test.spending()).caps).toEqual([])
  })
})

describe('the limit of requests', () => {
  it('answers 429 with Retry-After above it, for that token only, and leaves streams and health alone', async () => {
    await using test = await openSpendingServer({ perSecond: 1, atOnce: 20 })
    const anna = await test.create({ name: 'anna', role: 'viewer' })
    const ben = await test.create({ name: 'ben', role: 'viewer' })
    const stream = await test.call(`/v1/sessions/${test.id}/events`, { headers: test.as(anna.secret) })
    const reader = stream.body?.getReader()
    await reader?.read()
    const answers = []
    for (let count = 0; count < 40; count++)
      answers.push(await test.call('/v1/access', { headers: test.as(anna.secret) }))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(19) // and the stream
    const refused = answers.at(-1)
    expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([429, '1'])
    expect(refused && (await codeOf(refused))).toBe('too_many_requests')
    expect((await test.call('/v1/health')).status).toBe(200)
    expect((await test.call('/v1/access', { headers: test.as(ben.secret) })).status).toBe(200)

    orThrow(await test.runtime.send('named', { type: 'rename', title: 'Still there' }))
    expect((await reader?.read())?.done).toBe(false)
    await reader?.cancel()
    test.clock.ms += 2000
    expect((await test.call('/v1/access', { headers: test.as(anna.secret) })).status).toBe(200)
  })
})
