import { describe, expect, it } from 'vitest'
import { sessionId } from '../testing/fake-sessions.ts'
import { codeOf, openTestServer } from '../testing/test-server.ts'

const path = `/v1/sessions/${sessionId}/commands`
const abort = JSON.stringify({ type: 'abort' })

async function logIn(test: Awaited<ReturnType<typeof openTestServer>>) {
  const response = await fetch(test.server.loginLink(), { redirect: 'manual' })
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
  return { response, cookie }
}

describe('login', () => {
  it('exchanges the link for a cookie once and redirects without the code', async () => {
    await using test = await openTestServer()
    const link = test.server.loginLink()
    const code = new URL(link).searchParams.get('code') ?? ''
    expect(Buffer.from(code, 'base64url').length * 8).toBeGreaterThanOrEqual(128)

    const first = await fetch(link, { redirect: 'manual' })
    expect(first.status).toBe(303)
    expect(first.headers.get('location')).toBe('/')
    expect(first.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict$/)

    const second = await fetch(link, { redirect: 'manual' })
    expect(second.status).toBe(401)
    expect(second.headers.get('set-cookie')).toBeNull()
  })

  it('redirects a logged-in browser that opens a used link', async () => {
    await using test = await openTestServer()
    const { response, cookie } = await logIn(test)
    const again = await fetch(`${test.server.url}/login?code=used`, { headers: { cookie }, redirect: 'manual' })
    expect([response.status, again.status, again.headers.get('location')]).toEqual([303, 303, '/'])
    expect(again.headers.get('set-cookie')).toBeNull()
  })

  it('accepts a link for ten minutes', async () => {
    await using test = await openTestServer()
    const [early, late] = [test.server.loginLink(), test.server.loginLink()]
    test.clock.ms += 10 * 60_000 - 1
    expect((await fetch(early, { redirect: 'manual' })).status).toBe(303)
    test.clock.ms += 1
    expect((await fetch(late, { redirect: 'manual' })).status).toBe(401)
  })

  it('does not redeem a code with HEAD', async () => {
    await using test = await openTestServer()
    const link = test.server.loginLink()
    expect((await fetch(link, { method: 'HEAD', redirect: 'manual' })).status).toBe(401)
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(303)
  })

  it('counts wrong codes as failed attempts', async () => {
    await using test = await openTestServer()
    const guess = () => fetch(`${test.server.url}/login?code=guess`)
    for (let count = 0; count < 10; count++) expect((await guess()).status).toBe(401)
    expect((await guess()).status).toBe(429)
    expect((await logIn(test)).response.status).toBe(303)
  })

  it('lets the page read and send commands with its cookie', async () => {
    await using test = await openTestServer()
    const { cookie } = await logIn(test)
    const fromPage = { cookie, 'sec-fetch-site': 'same-origin' }
    expect((await test.call('/v1/sessions', { headers: fromPage })).status).toBe(200)
    const headers = { ...fromPage, 'content-type': 'application/json' }
    expect((await test.call(path, { method: 'POST', headers, body: abort })).status).toBe(202)
  })

  it('refuses the cookie from other pages, even on another port of this machine', async () => {
    await using test = await openTestServer()
    const { cookie } = await logIn(test)
    for (const site of ['same-site', 'cross-site', 'none']) {
      const headers = { cookie, 'sec-fetch-site': site, 'content-type': 'application/json' }
      const response = await test.call(path, { method: 'POST', headers, body: abort })
      expect([site, response.status, await codeOf(response)]).toEqual([site, 403, 'wrong_origin'])
    }
    const headers = { cookie, 'sec-fetch-site': 'same-site' }
    expect((await test.call('/v1/sessions', { headers })).status).toBe(403)
    expect(test.fake.records).toEqual([])
  })

  it('requires a same-origin header before a cookie may change anything', async () => {
    await using test = await openTestServer()
    const { cookie } = await logIn(test)
    const send = (more: Record<string, string>) => {
      const head = Object.entries({ Host: `127.0.0.1:${test.server.port}`, Cookie: cookie, ...more })
      const lines = head.map(([name, value]) => `${name}: ${value}`).join('\r\n')
      return test.raw(
        `POST ${path} HTTP/1.1\r\n${lines}\r\nContent-Type: application/json\r\nContent-Length: ${abort.length}\r\nConnection: close\r\n\r\n${abort}`,
      )
    }
    expect(await send({})).toMatch(/^HTTP\/1.1 403 /)
    expect(await send({ Origin: test.server.url })).toMatch(/^HTTP\/1.1 202 /)
  })

  it('refuses forged and expired cookies', async () => {
    await using test = await openTestServer()
    const { cookie } = await logIn(test)
    const [name = '', value = ''] = cookie.split('=')
    const [login = '', until = '', seal = ''] = value.split('.')
    const forgeries = [
      `${login}.${Number(until) + 1}.${seal}`,
      `other.${until}.${seal}`,
      `${login}.${until}.`,
      `${until}.${seal}`,
    ]
    for (const forged of [`${name}=`, ...forgeries.map((one) => `${name}=${one}`), `other=${value}`]) {
      expect((await test.call('/v1/sessions', { headers: { cookie: forged } })).status).toBe(401)
    }
    test.clock.ms += 31 * 24 * 3600 * 1000
    expect((await test.call('/v1/sessions', { headers: { cookie } })).status).toBe(401)
  })

  it('accepts the cookie after a restart with the same key', async () => {
    const cookieKey = new Uint8Array(32).fill(7)
    await using first = await openTestServer({ cookieKey })
    const { cookie } = await logIn(first)
    const { port } = first.server
    await first.server.close()
    const { storedTokens } = first
    await using second = await openTestServer({ cookieKey, port, storedTokens })
    expect((await second.call('/v1/sessions', { headers: { cookie } })).status).toBe(200)
    await second.server.close()
    await using third = await openTestServer({ port, storedTokens })
    expect((await third.call('/v1/sessions', { headers: { cookie } })).status).toBe(401)
  })
})
