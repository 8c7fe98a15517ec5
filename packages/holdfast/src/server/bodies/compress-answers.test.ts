import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { sessionId } from '../testing/fake-sessions.ts'
import { openTestServer } from '../testing/test-server.ts'

const far = { trustedProxies: ['127.0.0.1'] }
const from = '203.0.113.9'

type Test = Awaited<ReturnType<typeof openTestServer>>

/** Asks like a client on another machine, whose proxy is on this one. */
const ask = (test: Test, path: string, encoding = 'gzip, br', remote = from) =>
  test.call(path, {
    headers: {
      authorization: `Bearer ${test.tokens.driver}`,
      'x-forwarded-for': remote,
      'accept-encoding': encoding,
    },
  })

describe('compression', () => {
  it('is used for long answers to clients on other machines that accept it', async () => {
    await using test = await openTestServer(far)
    const long = await ask(test, '/v1/openapi.json')
    expect(long.headers.get('content-encoding')).toBe('gzip')
    expect(long.headers.get('vary')).toContain('Accept-Encoding')
    expect(await long.json()).toMatchObject({ openapi: '3.1.0' })
    expect((await ask(test, '/v1/openapi.json', 'identity')).headers.get('content-encoding')).toBeNull()
    expect((await ask(test, '/v1/health')).headers.get('content-encoding')).toBeNull()
  })

  it('is not used on this machine', async () => {
    await using test = await openTestServer(far)
    for (const remote of ['127.0.0.1', '::1'])
      expect((await ask(test, '/v1/openapi.json', 'gzip', remote)).headers.get('content-encoding')).toBeNull()
  })

  it('is not used for a stream of events', async () => {
    await using test = await openTestServer(far)
    const stream = await ask(test, `/v1/sessions/${sessionId}/events`)
    expect([stream.status, stream.headers.get('content-encoding')]).toEqual([200, null])
    await stream.body?.cancel()
  })
})

describe('connections', () => {
  it('are limited: one too many is closed, and reported once', async () => {
    await using test = await openTestServer({ connectionsMax: 1 })
    const held = connect(test.server.port, '127.0.0.1')
    await new Promise((resolve) => held.once('connect', resolve))
    for (let more = 0; more < 2; more += 1) {
      const socket = connect(test.server.port, '127.0.0.1')
      socket.on('error', () => undefined)
      await new Promise((resolve) => socket.once('close', resolve))
    }
    expect(test.problems).toMatchObject([
      { where: 'the server', cause: { message: 'More than 1 connections are open.' } },
    ])
    held.destroy()
  })
})
