import { describe, expect, it } from 'vitest'
import { routes } from '../routes/routes.ts'
import { sessionId } from '../testing/fake-sessions.ts'
import { codeOf, openTestServer } from '../testing/test-server.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']
const guarded = routes.filter(({ access }) => access.role !== 'open')
const concrete = (path: string) =>
  path.replace(':id', sessionId).replace(':attachment', 'tab-1').replace(':hash', '0'.repeat(64))

describe('access', () => {
  it('has only the expected open routes', () => {
    expect(routes.flatMap(({ access, path }) => (access.role === 'open' ? [path] : []))).toEqual([
      '/v1/health',
      '/v1/ready',
      '/login',
      '/v1/login',
    ])
    expect(guarded.length).toBeGreaterThan(5)
  })

  it('answers 401 on every route and method without a token', async () => {
    await using test = await openTestServer()
    for (const path of [...guarded.map((route) => concrete(route.path)), '/v1/none', '/v1/', '/v1/sessions/x/y/z'])
      for (const method of methods) {
        const response = await fetch(`${test.server.url}${path}`, { method })
        expect([method, path, response.status]).toEqual([method, path, 401])
        if (method !== 'HEAD') expect(await codeOf(response)).toBe('unauthorized')
      }
    expect(test.fake.touched).toEqual([])
  })

  it('answers HEAD on the health routes without a token, as some monitors send it', async () => {
    await using test = await openTestServer()
    for (const path of ['/v1/health', '/v1/ready']) {
      const response = await fetch(`${test.server.url}${path}`, { method: 'HEAD' })
      expect([path, response.status, await response.text()]).toEqual([path, 200, ''])
    }
  })

  it('answers the health route without a token', async () => {
    await using test = await openTestServer()
    const response = await fetch(`${test.server.url}/v1/health?probe=1`)
    expect(await response.json()).toEqual({ status: 'ok', version: '1.2.3' })
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('accepts a token in the header only, never in the URL', async () => {
    await using test = await openTestServer()
    const response = await fetch(`${test.server.url}/v1/sessions?token=${test.tokens.admin}`)
    expect(response.status).toBe(401)
    expect((await test.call('/v1/sessions')).status).toBe(200)
  })

  it.each(['', 'short', 'x'.repeat(43), 'x'.repeat(4000)])(
    'refuses a wrong token of any length (%#)',
    async (wrong) => {
      await using test = await openTestServer()
      for (const authorization of [`Bearer ${wrong}`, `Basic ${test.tokens.admin}`]) {
        const response = await test.call('/v1/sessions', { headers: { authorization } })
        expect(response.status).toBe(401)
      }
    },
  )

  it('refuses the hash of a token', async () => {
    await using test = await openTestServer()
    const { hashToken } = await import('../../tokens/token-secret.ts')
    const authorization = `Bearer ${hashToken(test.tokens.admin)}`
    expect((await test.call('/v1/sessions', { headers: { authorization } })).status).toBe(401)
  })

  it('limits failed attempts and never blocks a valid token', async () => {
    await using test = await openTestServer()
    const guess = () => test.call('/v1/sessions', { headers: { authorization: 'Bearer guess' } })
    for (let count = 0; count < 10; count++) expect((await guess()).status).toBe(401)
    const late = await guess()
    expect(late.status).toBe(429)
    expect(late.headers.get('retry-after')).toBe('60')
    expect(await codeOf(late)).toBe('too_many_tries')
    expect((await test.call('/v1/sessions')).status).toBe(200)
    test.clock.ms += 60_000
    expect((await guess()).status).toBe(401)
  })
})
