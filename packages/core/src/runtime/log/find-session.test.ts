import { aSession, isRecord, say } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { findSession } from './find-session.ts'

describe('finding a session', () => {
  it('by its complete id takes one look-up, found or not', async () => {
    const { store, registry, send, frame } = await openMemoryRuntime({ script: [[say('Hi.')]] })
    await send('a', { type: 'sendPrompt', content: 'go' })
    await frame(isRecord('turn.ended'))
    await registry.unload(aSession)
    const asked: string[] = []
    const finder = {
      find: (name: Parameters<typeof store.find>[0]) => {
        asked.push('find')
        return store.find(name)
      },
      entry: (id: Parameters<typeof store.entry>[0]) => {
        asked.push('entry')
        return store.entry(id)
      },
    }
    expect(await findSession(finder, aSession)).toEqual({ ok: true, value: aSession })
    const unknown = `${aSession.slice(0, -1)}z`
    expect(await findSession(finder, unknown)).toMatchObject({ fault: { code: 'session_not_found' } })
    await store.trash(aSession, 7)
    expect(await findSession(finder, aSession)).toMatchObject({ fault: { code: 'session_trashed' } })
    expect(asked).toEqual(['entry', 'entry', 'entry'])
  })
})
