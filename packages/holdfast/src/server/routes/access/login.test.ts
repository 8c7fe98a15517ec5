import { decodeNews } from '@holdfast/client'
import { invariant, limits, orThrow } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../../store/memory/memory-store.ts'
import { createLiveTokens } from '../../../tokens/live-tokens.ts'
import { codeOf, openTestServer } from '../../testing/test-server.ts'

type Test = Awaited<ReturnType<typeof openTestServer>>

const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? ''
const fromPage = (cookie: string) => ({ cookie, 'sec-fetch-site': 'same-origin' })
const logIn = async (test: Test) => cookieOf(await fetch(test.server.loginLink(), { redirect: 'manual' }))
const logInWith = async (test: Test, token: string) =>
  cookieOf(
    await fetch(`${test.server.url}/v1/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    }),
  )
const logOut = (test: Test, headers: Record<string, string>) => test.call('/v1/logout', { method: 'POST', headers })
const statusOf = async (test: Test, cookie: string) =>
  (await test.call('/v1/sessions', { headers: fromPage(cookie) })).status
const asAdmin = (test: Test) => ({ authorization: `Bearer ${test.tokens.admin}` })

/** Follows the news with a cookie, and returns the last frame. */
async function lastNews(test: Test, cookie: string): Promise<{ readonly last: Promise<unknown> }> {
  const { body } = await test.call('/v1/events', { headers: fromPage(cookie) })
  invariant(body, 'a stream has a body')
  const read = async () => {
    let last: unknown
    for await (const frame of decodeNews(body)) last = frame
    return last
  }
  return { last: read() }
}

describe('a page that logs out', () => {
  it('has no login at the server any more, also with a copy of its cookie, and its streams end', async () => {
    await using test = await openTestServer()
    const [cookie, other] = [await logIn(test), await logIn(test)]
    const { last } = await lastNews(test, cookie)
    const out = await logOut(test, fromPage(cookie))
    expect([out.status, await out.json()]).toEqual([200, { ended: 1 }])
    expect(out.headers.get('set-cookie')).toMatch(/=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/)
    expect(await last).toMatchObject({ type: 'end', reason: 'revoked' })
    expect([await statusOf(test, cookie), await statusOf(test, other)]).toEqual([401, 200])
    const used = await fetch(`${test.server.url}/login?code=used`, { headers: { cookie }, redirect: 'manual' })
    expect(used.status).toBe(401)
  })

  it('stays logged out after a restart, and the others stay logged in', async () => {
    const rows = createMemoryStore()
    const cookieKey = new Uint8Array(32).fill(7)
    const open = (port: number) => {
      const clock = { now: () => 1_000_000, after: () => () => undefined }
      const deps = {
        rows,
        clock,
        onProblem: () => undefined,
        findSession: async () => Promise.reject(new Error('none')),
      }
      return openTestServer({ cookieKey, port, storedTokens: createLiveTokens(deps) })
    }
    await using first = await open(0)
    const [cookie, other] = [await logIn(first), await logIn(first)]
    await logOut(first, fromPage(cookie))
    const { port } = first.server
    await first.server.close()
    await using second = await open(port)
    // On connections of their own: those of the first server may still be taken for open.
    const answerTo = (sent: string) =>
      second.raw(`GET /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${sent}\r\nConnection: close\r\n\r\n`)
    expect(await answerTo(cookie)).toMatch(/^HTTP\/1.1 401 /)
    expect(await answerTo(other)).toMatch(/^HTTP\/1.1 200 /)
  })

  it('leaves the token that it was logged in with, and the logins of others with it', async () => {
    await using test = await openTestServer()
    const { secret } = orThrow(await test.storedTokens.create({ name: 'desk', role: 'viewer' }))
    const [cookie, other] = [await logInWith(test, secret), await logInWith(test, secret)]
    expect((await logOut(test, fromPage(cookie))).status).toBe(200)
    expect([await statusOf(test, cookie), await statusOf(test, other)]).toEqual([401, 200])
    expect((await test.call('/v1/sessions', { headers: { authorization: `Bearer ${secret}` } })).status).toBe(200)
  })

  it('must be the page itself, with a login', async () => {
    await using test = await openTestServer()
    const cookie = await logIn(test)
    const foreign = await logOut(test, { cookie, 'sec-fetch-site': 'same-site' })
    expect([foreign.status, await codeOf(foreign)]).toEqual([403, 'wrong_origin'])
    const withToken = await logOut(test, asAdmin(test))
    expect([withToken.status, await codeOf(withToken)]).toEqual([400, 'bad_request'])
    expect(await statusOf(test, cookie)).toBe(200)
  })
})

describe('all logins', () => {
  const endAll = (test: Test, headers: Record<string, string>) => test.call('/v1/logins', { method: 'DELETE', headers })

  it('are ended at once by an admin, with unused links; tokens and share links stay', async () => {
    await using test = await openTestServer()
    const { secret } = orThrow(await test.storedTokens.create({ name: 'desk', role: 'driver' }))
    const [cookie, ofToken, unused] = [await logIn(test), await logInWith(test, secret), test.server.loginLink()]
    const { last } = await lastNews(test, cookie)
    const driver = { authorization: `Bearer ${test.tokens.driver}` }
    expect((await endAll(test, driver)).status).toBe(403)
    expect(await (await endAll(test, asAdmin(test))).json()).toEqual({ ended: 2 })
    expect(await last).toMatchObject({ type: 'end', reason: 'revoked' })
    expect([await statusOf(test, cookie), await statusOf(test, ofToken)]).toEqual([401, 401])
    expect((await fetch(unused, { redirect: 'manual' })).status).toBe(401)
    expect(orThrow(await test.storedTokens.list()).map(({ name }) => name)).toEqual(['desk'])
    expect(await statusOf(test, await logInWith(test, secret))).toBe(200)
  })

  it('that another process ends are noticed within a second, and end what is open', async () => {
    await using test = await openTestServer()
    const cookie = await logIn(test)
    const { last } = await lastNews(test, cookie)
    for (const { id } of await test.rows.tokens()) orThrow(await test.rows.removeToken(id))
    expect(await last).toMatchObject({ type: 'end', reason: 'revoked' })
    test.clock.ms += limits.tokenCheckMs
    expect(await statusOf(test, cookie)).toBe(401)
  })

  it('are no tokens: they are not listed, cannot be revoked as such, and take no place of one', async () => {
    await using test = await openTestServer()
    await logIn(test)
    const [login] = await test.rows.tokens()
    invariant(login, 'the login is stored')
    expect(orThrow(await test.storedTokens.list())).toEqual([])
    for (const name of [login.id, login.name])
      expect(await test.storedTokens.revoke(name)).toMatchObject({ ok: false, fault: { code: 'not_found' } })
  })

  it('have a limit for links and for each token: the oldest ends', async () => {
    await using test = await openTestServer()
    const { secret } = orThrow(await test.storedTokens.create({ name: 'desk', role: 'driver' }))
    const ofToken = await logInWith(test, secret)
    const cookies: string[] = []
    for (let count = 0; count <= limits.loginsMax; count++) cookies.push(await logIn(test))
    expect([await statusOf(test, cookies[0] ?? ''), await statusOf(test, cookies[1] ?? '')]).toEqual([401, 200])
    expect(await statusOf(test, ofToken)).toBe(200)
  })

  it('that have expired make room', async () => {
    await using test = await openTestServer()
    await logIn(test)
    test.clock.ms += 31 * 86_400_000
    await logIn(test)
    expect(await test.rows.tokens()).toHaveLength(1)
  })
})
