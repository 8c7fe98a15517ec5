import { connectSessions, createSession } from '@holdfast/client'
import { orThrow } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { openRuntimeServer } from '../../testing/runtime-server.ts'

type Test = Awaited<ReturnType<typeof openRuntimeServer>>

async function keptBy({ runtime }: Test) {
  const records = await runtime.store.read(runtime.handle.id, { after: 0, limit: 1000 })
  return records.flatMap((record) =>
    !('lost' in record) && record.event.type === 'client.said' ? [record.event.event.eventId] : [],
  )
}

describe('client events', () => {
  it('are stored once each, even without a command id', async () => {
    await using test = await openRuntimeServer()
    const send = (eventId: string) =>
      test.post(
        `${test.path}/commands`,
        JSON.stringify({ type: 'appendClientEvent', event: { eventId, type: 'shown' } }),
      )
    const first = await send('one')
    const again = await send('one')
    expect([first.status, again.status]).toEqual([202, 202])
    expect(await again.json()).toEqual(await first.json())
    await send('two')
    const sessions = connectSessions({ url: test.server.url, token: test.tokens.driver })
    const session = createSession(orThrow(await sessions.open(test.runtime.handle.id)))
    await session.appendClientEvent({ eventId: 'one', type: 'shown' })
    await session.appendClientEvent({ eventId: 'three', type: 'shown' })
    await session.appendClientEvent({ eventId: 'three', type: 'shown' })
    expect(await keptBy(test)).toEqual(['one', 'two', 'three'])
  })

  it('are not mistaken for another command with the same id', async () => {
    await using test = await openRuntimeServer()
    const session = createSession(test.runtime.handle)
    await session.addSystemMessage('a note', 'info', { commandId: 'event-one' })
    const ids = ['one', 'é', 'e\u0301', 'x'.repeat(200)]
    for (const eventId of ids) await session.appendClientEvent({ eventId, type: 'shown' })
    expect(await keptBy(test)).toEqual(ids)
  })
})
