import { decodeFrames } from '@holdfast/client'
import { type Frame, type FrameOf, invariant, limits } from '@holdfast/protocol'
import { isRecord } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openRuntimeServer } from '../testing/runtime-server.ts'
import { codeOf } from '../testing/test-server.ts'

type Test = Awaited<ReturnType<typeof openRuntimeServer>>

const Opened = z.object({ attachment: z.string(), role: z.string(), keptMs: z.int() })

async function open(test: Test, body: object = {}) {
  const response = await test.post(`${test.path}/attachments`, JSON.stringify(body))
  expect(response.status).toBe(201)
  return Opened.parse(await response.json())
}

/** Opens a stream of an attachment and reads its first frame. */
async function follow(test: Test, attachment: string, { query = '', token = test.tokens.driver } = {}) {
  const gone = new AbortController()
  const address = `${test.path}/events?attachment=${attachment}${query}`
  const response = await test.call(address, {
    headers: { authorization: `Bearer ${token}` },
    signal: gone.signal,
  })
  invariant(response.body, 'a stream has a body')
  const frames = decodeFrames(response.body)
  await frames.next()
  return { frames, leave: () => gone.abort() }
}

const answered = async (response: Response) => [response.status, response.ok ? 'ok' : await codeOf(response)]
const clientsOf = (test: Test) => test.runtime.registry.loaded(test.runtime.handle.id)?.hub.drivers.all ?? []

/** Resolves once the attached clients are as given. */
async function waitForClients(test: Test, expected: readonly (readonly [string, string])[]) {
  const isSo = (clients: FrameOf<'presence'>['clients']) =>
    JSON.stringify(clients.map(({ client, role }) => [client, role])) === JSON.stringify(expected)
  const isAwaited = (frame: Frame) =>
    frame.type === 'presence' ? isSo(frame.clients) : frame.type === 'snapshot' && isSo(frame.here?.clients ?? [])
  for await (const frame of test.runtime.handle.subscribe()) if (isAwaited(frame)) return
}

describe('an attachment', () => {
  it('exists before its stream: the first is driver, the second viewer', async () => {
    await using test = await openRuntimeServer()
    const first = await open(test)
    expect(first).toEqual({ attachment: expect.any(String), role: 'driver', keptMs: limits.detachedClientMs })
    expect(await open(test, { attachment: 'tab-2' })).toMatchObject({ attachment: 'tab-2', role: 'viewer' })
    expect(await open(test, { role: 'driver' })).toMatchObject({ role: 'viewer' })
    const as = { 'holdfast-attachment': first.attachment }
    expect((await test.post(`${test.path}/commands`, '{"type":"enterPlan"}', as)).status).toBe(202)
    const listed = await test.runtime.handle.snapshot()
    expect(listed.ok && listed.value.meta.attachments).toBe(3)
  })

  it('is a viewer if it asks for that role', async () => {
    await using test = await openRuntimeServer()
    expect(await open(test, { role: 'viewer' })).toMatchObject({ role: 'viewer' })
    expect(await open(test, {})).toMatchObject({ role: 'driver' })
  })

  it('is refused with an unknown role, name or field', async () => {
    await using test = await openRuntimeServer()
    const post = async (body: string) => answered(await test.post(`${test.path}/attachments`, body))
    expect(await post('{"role":"pilot"}')).toEqual([400, 'invalid_role'])
    expect(await post('{"attachment":"a b"}')).toEqual([400, 'bad_request'])
    expect(await post('{"seat":1}')).toEqual([400, 'bad_request'])
    expect(await answered(await test.post('/v1/sessions/cold-harbor-1/attachments', '{}'))).toEqual([
      404,
      'session_not_found',
    ])
    expect(clientsOf(test)).toEqual([])
  })

  it('ends when no stream follows in time', async () => {
    await using test = await openRuntimeServer()
    await open(test, { attachment: 'tab-1' })
    test.runtime.clock.advance(limits.detachedClientMs - 1)
    expect(clientsOf(test)).toHaveLength(1)
    test.runtime.clock.advance(1)
    await waitForClients(test, [])
  })

  it('stays without a stream for as long as it asked for, at most a day', async () => {
    await using test = await openRuntimeServer()
    const day = limits.seatKeptMsMax
    expect(await open(test, { attachment: 'tab-1', keptMs: day })).toMatchObject({ role: 'driver', keptMs: day })
    test.runtime.clock.advance(day - 1)
    expect(clientsOf(test)).toEqual([{ client: 'tab-1', role: 'driver' }])
    test.runtime.clock.advance(1)
    await waitForClients(test, [])
    const tooLong = JSON.stringify({ attachment: 'tab-1', keptMs: day + 1 })
    expect(await answered(await test.post(`${test.path}/attachments`, tooLong))).toEqual([400, 'bad_request'])
  })

  it('keeps its role while it streams, and for a while after the stream breaks', async () => {
    await using test = await openRuntimeServer()
    await open(test, { attachment: 'tab-1' })
    const broken = await follow(test, 'tab-1')
    await open(test, { attachment: 'tab-2' })
    const other = await follow(test, 'tab-2')
    test.runtime.clock.advance(2 * limits.detachedClientMs)
    broken.leave()
    await untilOneSubscriptionLess(test, 4)
    test.runtime.clock.advance(limits.detachedClientMs - 1)
    const back = await follow(test, 'tab-1')
    test.runtime.clock.advance(2 * limits.detachedClientMs)
    expect(clientsOf(test)).toEqual([
      { client: 'tab-1', role: 'driver' },
      { client: 'tab-2', role: 'viewer' },
    ])
    back.leave()
    await untilOneSubscriptionLess(test, 4)
    test.runtime.clock.advance(limits.detachedClientMs)
    await waitForClients(test, [['tab-2', 'viewer']])
    other.leave()
  })

  it('ends with its stream if it was not opened before', async () => {
    await using test = await openRuntimeServer()
    const stream = await follow(test, 'tab-1')
    expect(clientsOf(test)).toEqual([{ client: 'tab-1', role: 'driver' }])
    stream.leave()
    await waitForClients(test, [])
  })

  it('ends on request, with all its streams', async () => {
    await using test = await openRuntimeServer()
    await open(test, { attachment: 'tab-1' })
    const { frames } = await follow(test, 'tab-1')
    const leave = () => test.call(`${test.path}/attachments/tab-1`, { method: 'DELETE' })
    expect((await leave()).status).toBe(204)
    const rest = await Array.fromAsync(frames)
    expect(rest.at(-1)).toEqual({ type: 'end', sessionId: test.runtime.handle.id, reason: 'left', retryMs: null })
    await waitForClients(test, [])
    expect(await answered(await leave())).toEqual([409, 'not_subscribed'])
  })

  it('becomes driver only if there is none', async () => {
    await using test = await openRuntimeServer()
    const at = (name: string) => `${test.path}/attachments/${name}`
    await open(test, { attachment: 'tab-1' })
    await open(test, { attachment: 'tab-2' })
    const claim = async (name: string) =>
      answered(await test.call(`${at(name)}/claim`, { method: 'POST', headers: headersOf(test) }))
    expect(await claim('tab-2')).toEqual([409, 'driver_taken'])
    expect(await claim('nobody')).toEqual([409, 'not_subscribed'])
    await test.call(at('tab-1'), { method: 'DELETE' })
    await waitForClients(test, [['tab-2', 'viewer']])
    expect(await claim('tab-2')).toEqual([202, 'ok'])
    expect(clientsOf(test)).toEqual([{ client: 'tab-2', role: 'driver' }])
  })

  it('hands the driver role to another attachment', async () => {
    await using test = await openRuntimeServer()
    await open(test, { attachment: 'tab-1' })
    await open(test, { attachment: 'tab-2' })
    const hand = async (from: string, client: string) =>
      answered(await test.post(`${test.path}/attachments/${from}/handover`, JSON.stringify({ client })))
    expect(await hand('tab-2', 'tab-1')).toEqual([403, 'not_driver'])
    expect(await hand('nobody', 'tab-1')).toEqual([409, 'not_subscribed'])
    expect(await hand('tab-1', 'nobody')).toEqual([409, 'not_subscribed'])
    expect(await hand('tab-1', 'tab-2')).toEqual([202, 'ok'])
    expect(clientsOf(test).map(({ role }) => role)).toEqual(['viewer', 'driver'])
  })

  it('is dropped, oldest first, when too many wait for a stream', async () => {
    await using test = await openRuntimeServer()
    await open(test, { attachment: 'streams' })
    const { leave } = await follow(test, 'streams')
    for (let count = 0; count <= 100; count++) await open(test, { attachment: `tab-${count}` })
    await waitForClients(test, [
      ['streams', 'driver'],
      ...Array.from({ length: 100 }, (_, index) => [`tab-${index + 1}`, 'viewer'] as const),
    ])
    leave()
  })

  it('with a viewer token never blocks the driver role', async () => {
    await using test = await openRuntimeServer()
    const watcher = await follow(test, 'watcher', { query: '&role=driver', token: test.tokens.viewer })
    expect(clientsOf(test)).toEqual([{ client: 'watcher', role: 'viewer' }])
    expect(await open(test)).toMatchObject({ role: 'driver' })
    watcher.leave()
  })

  it('that drives blocks commands of other tokens, except admin tokens', async () => {
    await using test = await openRuntimeServer()
    const plan = async (token: string) =>
      answered(await test.post(`${test.path}/commands`, '{"type":"enterPlan"}', { authorization: `Bearer ${token}` }))
    expect(await plan(test.tokens.driver)).toEqual([202, 'ok'])
    await open(test)
    expect(await plan(test.tokens.driver)).toEqual([403, 'not_driver'])
    expect(await plan(test.tokens.admin)).toEqual([202, 'ok'])
  })

  it('ends with the session and with the server', async () => {
    await using test = await openRuntimeServer()
    await test.runtime.send('a', { type: 'sendPrompt', content: 'go' }) // an empty session would be removed
    await test.runtime.frame(isRecord('turn.ended'))
    await open(test, { attachment: 'tab-1' })
    await test.runtime.registry.unload(test.runtime.handle.id)
    await waitForClients(test, []) // opens the session again
    await open(test, { attachment: 'tab-2' })
    await test.server.close()
    await waitForClients(test, [])
    expect(test.problems).toEqual([])
  })
})

const headersOf = (test: Test) => ({ authorization: `Bearer ${test.tokens.driver}` })

/** Resolves when the server has noticed a broken stream. */
async function untilOneSubscriptionLess(test: Test, before: number) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const hub = test.runtime.registry.loaded(test.runtime.handle.id)?.hub
  const stop = new AbortController()
  const look = () => hub && hub.size < before && resolve()
  const follow = async () => {
    for await (const _ of test.runtime.registry.news.follow(stop.signal)) look()
  }
  follow()
  look()
  await promise
  stop.abort()
}
