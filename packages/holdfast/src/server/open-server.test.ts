import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { openServer, type ServerOptions } from './open-server.ts'
import { createFakeSessions, sessionId } from './testing/fake-sessions.ts'
import { openTestServer, sendRaw } from './testing/test-server.ts'

const globals = [globalThis.Request, globalThis.Response]

const options: ServerOptions = {
  sessions: createFakeSessions().sessions,
  host: '127.0.0.1',
  port: 0,
  tokens: [],
  pageDir: null,
  version: '0',
  now: () => 0,
  onProblem: () => {},
}

describe('openServer', () => {
  it.each(['0.0.0.0', '::', '192.168.1.5', 'localhost.evil.com'])('refuses to open %s without tokens', async (host) => {
    const opened = await openServer({ ...options, host })
    expect(opened).toMatchObject({ ok: false, fault: { code: 'unauthorized' } })
  })

  it('refuses a port that is in use', async () => {
    await using test = await openTestServer()
    const opened = await openServer({ ...options, port: test.server.port })
    expect(opened).toMatchObject({ ok: false, fault: { message: expect.stringContaining('taken') } })
  })

  it('disconnects a client that never finishes its headers', async () => {
    await using test = await openTestServer({ headersTimeoutMs: 20, requestTimeoutMs: 40 })
    const answer = await test.raw(`GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1:${test.server.port}\r\nX-Slow: `)
    expect(answer).toMatch(/^HTTP\/1.1 408 /)
  })

  it('disconnects a client that never finishes its body', async () => {
    await using test = await openTestServer({ headersTimeoutMs: 20, requestTimeoutMs: 40 })
    const lines = `Host: 127.0.0.1:${test.server.port}\r\nAuthorization: Bearer ${test.tokens.driver}`
    await test.raw(
      `POST /v1/sessions/${sessionId}/commands HTTP/1.1\r\n${lines}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    )
    expect(test.fake.touched).toEqual([])
    expect(test.problems).toEqual([])
  })

  it('refuses too many header bytes', async () => {
    await using test = await openTestServer()
    const flood = `X: ${'x'.repeat(70_000)}\r\n`
    expect(await test.raw(`GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1:${test.server.port}\r\n${flood}\r\n`)).toMatch(
      /^HTTP\/1.1 431 /,
    )
  })

  it('refuses an absolute URL as the request target', async () => {
    await using test = await openTestServer()
    const { port } = test.server
    const answer = await sendRaw(port, `GET http://evil.example/v1/health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
  })

  it('closes once, even with idle clients and repeated calls', async () => {
    const test = await openTestServer({ closeGraceMs: 3_600_000 }) // the grace period is for running requests only
    const idle = connect(test.server.port, '127.0.0.1')
    await new Promise((resolve) => idle.once('connect', resolve))
    const gone = new Promise((resolve) => idle.once('close', resolve))
    idle.resume()
    await Promise.all([test.server.close(), test.server.close()])
    await gone
    await expect(fetch(`${test.server.url}/v1/health`)).rejects.toThrow()
  })

  it('does not wait for the rest of a request that never comes', async () => {
    const test = await openTestServer({ closeGraceMs: 3_600_000 })
    const half = connect(test.server.port, '127.0.0.1')
    const head = `POST /v1/login HTTP/1.1\r\nHost: 127.0.0.1:${test.server.port}\r\nContent-Type: application/json`
    half.write(`${head}\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n`)
    await new Promise((resolve) => half.once('data', resolve)) // the server has begun to read it
    half.write('{"to')
    const gone = new Promise((resolve) => half.once('close', resolve))
    await test.server.close()
    await gone
  })

  it('closes even if a client does not read its answer', async () => {
    const test = await openTestServer()
    const stuck = connect(test.server.port, '127.0.0.1')
    const lines = `Host: 127.0.0.1:${test.server.port}\r\nAuthorization: Bearer ${test.tokens.viewer}`
    stuck.write(`GET /v1/sessions/${sessionId}/events?after=0 HTTP/1.1\r\n${lines}\r\n\r\n`)
    await new Promise((resolve) => stuck.once('data', resolve))
    stuck.pause()
    for (let count = 0; count < 200; count++) test.fake.say('x'.repeat(100_000))
    await test.server.close()
    stuck.destroy()
    await test.fake.left
  })

  it('does not replace global Request and Response', async () => {
    await using test = await openTestServer()
    await test.call('/v1/sessions')
    expect(globalThis.Request).toBe(globals[0])
    expect(globalThis.Response).toBe(globals[1])
  })
})
