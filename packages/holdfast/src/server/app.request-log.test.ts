import { HoldfastError } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createKeptLogger } from '../observe/logging/testing/memory-logger.ts'
import { sessionId } from './testing/fake-sessions.ts'
import { openTestServer } from './testing/test-server.ts'

const idOf = (answer: Response) => answer.headers.get('x-request-id') ?? ''

describe('the request id', () => {
  it.each(['abc-1', '01HZX.y:z', 'a'.repeat(128)])('is the caller’s own if it is safe: %s', async (id) => {
    await using test = await openTestServer()
    expect(idOf(await test.call('/v1/health', { headers: { 'x-request-id': id } }))).toBe(id)
  })

  it.each(['', 'a b', '<script>', '{"a":1}', 'a'.repeat(129), '-rf'])('is generated instead of %j', async (id) => {
    await using test = await openTestServer()
    const given = idOf(await test.call('/v1/health', { headers: { 'x-request-id': id } }))
    expect(given).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/)
    expect(idOf(await test.call('/v1/health'))).not.toBe(given)
  })

  it('is on every answer: a refused host, an unknown route, a stream', async () => {
    await using test = await openTestServer()
    const gate = await test.raw('GET /v1/health HTTP/1.1\r\nHost: evil.example\r\nX-Request-Id: at-gate\r\n\r\n')
    expect(gate).toMatch(/\r\nx-request-id: at-gate\r\n/i)
    for (const path of ['/v1/none', '/none', '/v1/sessions']) expect(idOf(await test.call(path))).not.toBe('')
    const leave = new AbortController()
    const stream = await test.call(`/v1/sessions/${sessionId}/events`, { signal: leave.signal })
    expect(idOf(stream)).not.toBe('')
    leave.abort()
  })

  it('is in the body and the reported problem of an internal error', async () => {
    await using test = await openTestServer()
    test.fake.sessions.list = () => Promise.reject(new Error('boom'))
    const authorization = `Bearer ${test.tokens.driver}`
    const answer = await test.call('/v1/sessions', { headers: { authorization, 'x-request-id': 'broke-1' } })
    expect([answer.status, idOf(answer)]).toEqual([500, 'broke-1'])
    expect(await answer.json()).toMatchObject({ error: { code: 'internal', details: { id: 'broke-1' } } })
    expect(test.problems).toMatchObject([{ where: 'GET /v1/sessions (broke-1)' }])
  })

  it('is in the body of an internal fault from a session', async () => {
    await using test = await openTestServer()
    const broken = new HoldfastError({ code: 'internal', message: 'The session broke.' }).toFault()
    test.fake.sessions.list = async () => ({ ok: false, fault: broken })
    const answer = await test.call('/v1/sessions')
    expect(await answer.json()).toMatchObject({ error: { code: 'internal', details: { id: idOf(answer) } } })
  })
})

describe('the request log', () => {
  it('has method, path, status and time, without query and token', async () => {
    const { logger, lines } = createKeptLogger()
    const test = await openTestServer({ logger })
    await test.call('/v1/sessions?search=hush', { headers: { authorization: 'Bearer wrong', 'x-request-id': 'r1' } })
    await test.call('/login?code=hush')
    await test.server.close()
    const ms = expect.any(Number)
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'request',
        fields: { requestId: 'r1', method: 'GET', path: '/v1/sessions', status: 401, ms },
      },
      {
        level: 'info',
        message: 'request',
        fields: { requestId: expect.any(String), method: 'GET', path: '/login', status: expect.any(Number), ms },
      },
    ])
    expect(JSON.stringify(lines)).not.toMatch(/hush|wrong/)
  })

  it('logs internal errors at level error', async () => {
    const { logger, lines } = createKeptLogger('warn')
    const test = await openTestServer({ logger })
    test.fake.sessions.list = () => Promise.reject(new Error('boom'))
    await test.call('/v1/sessions')
    await test.call('/v1/health')
    await test.server.close()
    expect(lines).toMatchObject([{ level: 'error', fields: { status: 500, path: '/v1/sessions' } }])
  })

  it('marks a stream whose client disconnected', async () => {
    const { logger, lines } = createKeptLogger()
    const test = await openTestServer({ logger })
    const leave = new AbortController()
    await test.call(`/v1/sessions/${sessionId}/events`, { signal: leave.signal })
    leave.abort()
    await expect.poll(() => lines.length).toBe(1)
    await test.server.close()
    expect(lines).toMatchObject([{ fields: { path: `/v1/sessions/${sessionId}/events`, status: 200, isCut: true } }])
  })
})
