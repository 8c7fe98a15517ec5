import { connectSessions, createSession } from '@holdfast/client'
import { orThrow } from '@holdfast/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { openRuntimeServer } from '../../testing/runtime-server.ts'
import { codeOf } from '../../testing/test-server.ts'

type Test = Awaited<ReturnType<typeof openRuntimeServer>>

/** Opens the session over HTTP; `bytes` returns the size of all answers since it was last called. */
async function openCounted({ server, tokens, runtime }: Test) {
  let sum = 0
  const counted: typeof fetch = async (input, init) => {
    const body = await (await fetch(input, init)).arrayBuffer()
    sum += body.byteLength
    return new Response(body)
  }
  const sessions = connectSessions({ url: server.url, token: tokens.driver, fetch: counted })
  const session = createSession(orThrow(await sessions.open(runtime.handle.id)))
  const bytes = () => {
    const read = sum
    sum = 0
    return read
  }
  return { session, bytes }
}

describe('a session of 100 long messages, over HTTP', () => {
  let test: Test
  beforeAll(async () => {
    test = await openRuntimeServer()
    const messages = Array.from({ length: 100 }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `${index} ${'x'.repeat(15_000)}`,
    }))
    orThrow(await test.runtime.handle.submit({ type: 'seedMessages', messages }))
    return () => test[Symbol.asyncDispose]()
  })

  it('is opened and asked for its state in less than 2 KB an answer', async () => {
    const { session, bytes } = await openCounted(test)
    expect(bytes()).toBeLessThan(2048)
    const reads = [session.status, session.usage, session.pinnedIds, session.metadata, session.getProvider]
    for (const read of reads) {
      await read()
      expect([String(read), bytes() < 2048]).toEqual([String(read), true])
    }
  })

  it('gives the same state as its snapshot', async () => {
    const { session } = await openCounted(test)
    const { view, meta, seq, here, summary } = await session.snapshot()
    const state = await (await test.call(`${test.path}/state`)).json()
    expect(state).toEqual({ ...view, meta, seq, here, summary })
    const two = await (await test.call(`${test.path}/state?fields=status,seq`)).json()
    expect(two).toEqual({ status: view.status, seq })
  })

  it('refuses a field that does not exist', async () => {
    const answer = await test.call(`${test.path}/state?fields=status,mood`)
    expect([answer.status, await codeOf(answer)]).toEqual([400, 'bad_request'])
  })

  it('is read message by message, and page by page', async () => {
    const { session } = await openCounted(test)
    let count = 0
    for await (const _ of session.messages()) count++
    expect(count).toBe(100)
    const { messages, before } = await session.page({ limit: 3 })
    expect([messages.length, before]).toEqual([3, messages[0]?.id])
  })

  it('returns the stored events of its clients', async () => {
    const { session } = await openCounted(test)
    for (const eventId of ['one', 'two', 'three'])
      await session.appendClientEvent({ eventId, type: 'shown', data: { eventId } })
    const near = createSession(test.runtime.handle)
    const [ids, localIds]: [string[], string[]] = [[], []]
    for await (const { event } of session.clientEvents()) ids.push(event.eventId)
    for await (const { event } of near.clientEvents()) localIds.push(event.eventId)
    expect([ids, localIds]).toEqual([
      ['one', 'two', 'three'],
      ['one', 'two', 'three'],
    ])
    const page = await (await test.call(`${test.path}/client-events?limit=1`)).json()
    expect(page).toMatchObject({
      events: [{ event: { eventId: 'one' }, by: 'token:driver' }],
      after: expect.any(Number),
    })
  })
})
