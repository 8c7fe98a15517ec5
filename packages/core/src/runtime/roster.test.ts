import { createGate, say, waitAt } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { isRecord, openHouse } from '../../../../test/simulation/a-house.ts'
import { aSession } from '../../../../test/simulation/a-log.ts'

const prompt = { type: 'sendPrompt', content: 'go' } as const
const idle = isRecord('turn.ended')

describe('the roster', () => {
  it('keeps a session whose turn runs', async () => {
    const gate = createGate()
    const house = await openHouse({ script: [[waitAt(gate)]] })
    await house.send('a', prompt)
    await gate.reached
    house.clock.advance(60 * 60_000)
    expect(house.roster.awake(aSession)).not.toBeNull()
  })

  it('wakes a session once, however many ask for it at the same time', async () => {
    const house = await openHouse({ script: [[say('Hi.')]] })
    await house.send('a', prompt)
    await house.frame(idle)
    await house.roster.rest(aSession)
    const woken = await Promise.all([1, 2, 3].map(() => house.roster.wake(aSession)))
    expect(new Set(woken.map((one) => one.ok && one.value)).size).toBe(1)
  })

  it('leaves nothing of a session nobody has spoken in', async () => {
    const house = await openHouse()
    await house.roster.rest(aSession)
    expect(await house.roster.wake(aSession)).toMatchObject({ fault: { code: 'session_not_found' } })
  })

  it('settles what a dead node left open, and leaves a question waiting', async () => {
    const gate = createGate()
    const dead = await openHouse({ script: [[waitAt(gate)]] })
    await dead.store.registerNode(dead.roster.parts.node)
    await dead.send('a', prompt)
    await gate.reached
    const next = await openHouse({ store: dead.store, takesOver: true, node: 'two' })
    await next.roster.settleCrashed()
    expect((await next.events()).slice(-2)).toEqual(['step.ended', 'turn.ended'])
    expect(await next.store.nodes()).toEqual([])
  })

  it('refuses a session that another living process owns', async () => {
    const one = await openHouse()
    await one.store.registerNode(one.roster.parts.node)
    const two = await openHouse({ store: one.store, takesOver: true, node: 'two', living: ['one', 'two'] })
    expect(await two.roster.wake(aSession)).toMatchObject({
      fault: { code: 'session_locked', details: { node: 'one' } },
    })
  })

  it('refuses to wake anything once it closes, and lets go of all it held', async () => {
    const house = await openHouse({ script: [[say('Hi.')]] })
    await house.send('a', prompt)
    await house.frame(idle)
    await house.roster.close()
    expect(await house.roster.wake(aSession)).toMatchObject({ fault: { code: 'session_stopped' } })
    expect((await house.store.entry(aSession))?.owner).toBeNull()
  })
})
