import { aSession, createGate, isRecord, say, waitAt } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { openMemoryHouse } from '../../testing/memory-house.ts'
import { openStoredHandle } from './stored-handle.ts'

const prompt = { type: 'sendPrompt', content: 'go' } as const

describe('a stored session', () => {
  it('reads as the handle of its process does, and claims nothing', async () => {
    const house = await openMemoryHouse({ script: [[say('Hi.')]] })
    await house.send('a', prompt)
    await house.frame(isRecord('turn.ended'))
    await house.registry.unload(aSession)
    const stored = await openStoredHandle(house.store, aSession, async () => false)
    if (!stored.ok) throw new Error(stored.fault.message)
    const live = await house.handle.snapshot()
    // Who is here is not on record.
    expect(await stored.value.snapshot()).toEqual(live.ok && { ok: true, value: { ...live.value, here: null } })
    expect(await stored.value.page({ limit: 1 })).toEqual(await house.handle.page({ limit: 1 }))
    expect(stored.value.lost).toEqual([])
    expect((await house.store.entry(aSession))?.owner).toBeNull()
  })

  it('that a dead process left at work is interrupted', async () => {
    const gate = createGate()
    const house = await openMemoryHouse({ script: [[waitAt(gate)]] })
    await house.store.registerNode(house.registry.deps.node)
    await house.send('a', prompt)
    await gate.reached
    const status = async (isAlive: boolean) => {
      const stored = await openStoredHandle(house.store, aSession, async () => isAlive)
      const page = stored.ok ? await stored.value.page() : stored
      return page.ok && page.value.session.status
    }
    expect([await status(true), await status(false)]).toEqual(['thinking', 'interrupted'])
  })

  it('that does not exist is refused', async () => {
    const { store, registry } = await openMemoryHouse()
    await registry.unload(aSession)
    expect(await openStoredHandle(store, aSession, async () => true)).toMatchObject({
      fault: { code: 'session_not_found' },
    })
  })
})
