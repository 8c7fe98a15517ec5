import { ok, orThrow, type Sessions } from '@holdfast/protocol'
import { createGate, say, waitAt } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { spokenIn, talkTo } from '../../testing/talk.ts'

import { createLocalSessions } from './local-sessions.ts'

const dayMs = 24 * 3_600_000

/** Opens a runtime with one spoken session; a test advances its clock. */
async function openOld() {
  const runtime = await openMemoryRuntime({ script: () => [say('Hi.')] })
  await talkTo(runtime.handle).ask('Hello')
  const sessions = createLocalSessions(runtime.registry)
  const daysAgo = (days: number) => new Date(runtime.clock.now() - days * dayMs).toISOString()
  return { ...runtime, sessions, daysAgo }
}

const handlesOf = async (sessions: Sessions, trashed?: true) =>
  orThrow(await sessions.list({ trashed })).sessions.map(({ handle }) => handle)

describe('a search', () => {
  it('says if the store has not searched all messages', async () => {
    const { registry } = await openMemoryRuntime({ script: () => [say('Hi.')] })
    const search = async () => ok({ hits: [], next: null, isIndexing: true as const })
    const sessions = createLocalSessions({ ...registry, stores: { ...registry.stores, search } })
    expect(orThrow(await sessions.search({ text: 'hello' }))).toEqual({ hits: [], next: null, isIndexing: true })
  })
})

describe('the list', () => {
  it('starts with pinned sessions', async () => {
    const { sessions, handle, clock } = await openOld()
    clock.advance(dayMs)
    await spokenIn(sessions)
    expect(await handlesOf(sessions)).toEqual(['calm-harbor-2', 'calm-harbor-1'])
    await handle.submit({ type: 'pinSession' })
    expect(await handlesOf(sessions)).toEqual(['calm-harbor-1', 'calm-harbor-2'])
  })

  it('filters by model, age, pinned and running', async () => {
    const gate = createGate()
    const runtime = await openMemoryRuntime({ script: (_, index) => (index === 2 ? [waitAt(gate)] : [say('Hi.')]) })
    await runtime.store.registerNode(runtime.registry.deps.node)
    const sessions = createLocalSessions(runtime.registry)
    await talkTo(runtime.handle).ask('Hello')
    runtime.clock.advance(dayMs)
    const since = new Date(runtime.clock.now()).toISOString()
    const other = await spokenIn(sessions, { model: 'sim/other' })
    await other.submit({ type: 'pinSession' })
    await runtime.handle.submit({ type: 'sendPrompt', content: 'go' })
    await gate.reached
    const handles = async (options: Parameters<typeof sessions.list>[0]) =>
      orThrow(await sessions.list(options)).sessions.map(({ handle }) => handle)
    expect(await handles({ model: 'sim/other' })).toEqual(['calm-harbor-2'])
    expect(await handles({ pinned: true })).toEqual(['calm-harbor-2'])
    expect(await handles({ pinned: false })).toEqual(['calm-harbor-1'])
    expect(await handles({ running: true })).toEqual(['calm-harbor-1'])
    expect(await handles({ activeFrom: since })).toEqual(['calm-harbor-2', 'calm-harbor-1'])
    expect(await handles({ activeBefore: since })).toEqual([])
  })
})
