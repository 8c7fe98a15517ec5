import { aSession, createGate, isRecord, say, waitAt } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { openStoredHandle } from './stored-handle.ts'

const prompt = { type: 'sendPrompt', content: 'go' } as const

describe('a stored session', () => {
  it('reads the same as in its process, without a claim', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(isRecord('turn.ended'))
    await runtime.registry.unload(aSession)
    const stored = await openStoredHandle(runtime.store, aSession, async () => false)
    if (!stored.ok) throw new Error(stored.fault.message)
    const live = await runtime.handle.snapshot()
    // Attached clients are not recorded.
    expect(await stored.value.snapshot()).toEqual(live.ok && { ok: true, value: { ...live.value, here: null } })
    expect(await stored.value.page({ limit: 1 })).toEqual(await runtime.handle.page({ limit: 1 }))
    expect(stored.value.lost).toEqual([])
    expect((await runtime.store.entry(aSession))?.owner).toBeNull()
  })

  it('is shown as interrupted if its process died during a turn', async () => {
    const gate = createGate()
    const runtime = await openMemoryRuntime({ script: [[waitAt(gate)]] })
    await runtime.store.registerNode(runtime.registry.deps.node)
    await runtime.send('a', prompt)
    await gate.reached
    const status = async (isAlive: boolean) => {
      const stored = await openStoredHandle(runtime.store, aSession, async () => isAlive)
      const page = stored.ok ? await stored.value.page() : stored
      return page.ok && page.value.session.status
    }
    expect([await status(true), await status(false)]).toEqual(['thinking', 'interrupted'])
  })

  it('that does not exist is refused', async () => {
    const { store, registry } = await openMemoryRuntime()
    await registry.unload(aSession)
    expect(await openStoredHandle(store, aSession, async () => true)).toMatchObject({
      fault: { code: 'session_not_found' },
    })
  })
})
