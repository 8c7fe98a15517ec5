import { decodeFrames, decodeNews } from '@holdfast/client'
import {
  CreatedToken,
  invariant,
  LoginLink,
  limits,
  orThrow,
  SharedSession,
  StoredFile,
  type TokenOptions,
} from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createLiveTokens } from '../../../tokens/live-tokens.ts'
import { openRuntimeServer } from '../../testing/runtime-server.ts'
import { codeOf } from '../../testing/test-server.ts'

type Test = Awaited<ReturnType<typeof openTokenServer>>

/** Opens a server on a real runtime, with the tokens of its store, and two sessions. */
async function openTokenServer() {
  const test = await openRuntimeServer({}, undefined, {}, undefined, (runtime) =>
    createLiveTokens({
      rows: runtime.registry.deps.store,
      clock: runtime.clock,
      onProblem: () => undefined,
      findSession: async (name) => ({ ok: true, value: name as typeof runtime.handle.id }),
    }),
  )
  const other = orThrow(await test.sessions.start({ workdir: '/work', title: 'The other one' }))
  const asAdmin = { authorization: `Bearer ${test.tokens.admin}` }
  const create = async (options: TokenOptions) => {
    const answer = await test.post('/v1/tokens', JSON.stringify(options), asAdmin)
    expect(answer.status).toBe(201)
    return CreatedToken.parse(await answer.json())
  }
  const as = (secret: string, path: string, init: RequestInit = {}) =>
    test.call(path, { ...init, headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' } })
  const revoke = (id: string) => test.call(`/v1/tokens/${id}`, { method: 'DELETE', headers: asAdmin })
  return { ...test, other, create, as, revoke, asAdmin, id: test.runtime.handle.id }
}

const lastOf = async <Frame>(frames: AsyncIterable<Frame>): Promise<Frame | undefined> => {
  let last: Frame | undefined
  for await (const frame of frames) last = frame
  return last
}

describe('/v1/tokens', () => {
  it('creates a token that works at once, lists it without its secret, and ends it', async () => {
    await using test = await openTokenServer()
    const created = await test.create({ name: 'phone', role: 'driver', expiresIn: '30d' })
    expect((await test.as(created.secret, '/v1/sessions')).status).toBe(200)
    const access = await (await test.as(created.secret, '/v1/access')).json()
    expect(access).toMatchObject({
      role: 'driver',
      session: null,
      token: { name: 'phone' },
      caps: [],
      expiresAt: created.expiresAt,
    })

    const listed = await (await test.call('/v1/tokens', { headers: test.asAdmin })).text()
    expect(listed).toContain(created.id)
    expect(listed).toMatch(/"createdBy":"token:/)
    for (const secret of [created.secret, 'hash']) expect(listed).not.toContain(secret)

    expect(await (await test.revoke('phone')).json()).toMatchObject({ id: created.id })
    expect((await test.as(created.secret, '/v1/sessions')).status).toBe(401)
    expect(await codeOf(await test.revoke('phone'))).toBe('not_found')
  })

  it('refuses bad input and changes nothing', async () => {
    await using test = await openTokenServer()
    for (const body of [
      '{}',
      '{"name":"a"}',
      '{"name":"a","role":"root"}',
      '{"name":"a","role":"admin","session":"x"}',
    ])
      expect([body, (await test.post('/v1/tokens', body, test.asAdmin)).status]).toEqual([body, 400])
    expect(await test.runtime.registry.deps.store.tokens()).toEqual([])
  })

  it.each(['revoked', 'expired'] as const)('cuts the open streams of a token that is %s', async (how) => {
    await using test = await openTokenServer()
    const { secret, id } = await test.create({ name: 'a', role: 'viewer', expiresIn: '1h' })
    const [events, news] = [await test.as(secret, `${test.path}/events`), await test.as(secret, '/v1/events')]
    invariant(events.body && news.body, 'a stream has a body')
    const last = Promise.all([lastOf(decodeFrames(events.body)), lastOf(decodeNews(news.body))])
    if (how === 'revoked') await test.revoke(id)
    else {
      test.runtime.clock.advance(3_600_000)
      await new Promise((resolve) => setImmediate(resolve))
      test.runtime.clock.advance(limits.tokenCheckMs)
    }
    expect(await last).toMatchObject([
      { type: 'end', reason: 'revoked', retryMs: null },
      { type: 'end', reason: 'revoked', retryMs: null },
    ])
    expect((await test.as(secret, '/v1/sessions')).status).toBe(401)
  })

  it('frees the seat of a driver whose token is revoked', async () => {
    await using test = await openTokenServer()
    const { secret, id } = await test.create({ name: 'a', role: 'driver' })
    const attach = (body: string) => test.as(secret, `${test.path}/attachments`, { method: 'POST', body })
    expect(await (await attach('{"attachment":"phone"}')).json()).toMatchObject({ role: 'driver' })
    await test.revoke(id)
    const next = await test.post(`${test.path}/attachments`, '{"attachment":"desk"}', test.asAdmin)
    expect(await next.json()).toMatchObject({ role: 'driver' })
  })
})

describe('a token for one session', () => {
  const paths = ['', '/state', '/messages', '/events', '/export', `/blobs/${'0'.repeat(64)}`, '/branches', '/usage']

  it('sees nothing of another one, as if it did not exist', async () => {
    await using test = await openTokenServer()
    const { secret } = await test.create({ name: 'a', role: 'driver', session: test.id })
    expect((await test.as(secret, test.path)).status).toBe(200)
    const unknown = `ses_${'0'.repeat(26)}`
    for (const path of paths) {
      const [there, nowhere] = [
        await test.as(secret, `/v1/sessions/${test.other.id}${path}`),
        await test.as(secret, `/v1/sessions/${unknown}${path}`),
      ]
      expect([path, there.status, nowhere.status]).toEqual([path, 404, 404])
      const textOf = async (answer: Response) =>
        (await answer.text()).replaceAll(answer.headers.get('x-request-id') ?? '', '')
      expect((await textOf(there)).replaceAll(test.other.id, unknown)).toBe(await textOf(nowhere))
    }
    const meta = orThrow(await test.other.state(['meta'])).meta
    for (const name of [meta.handle, test.other.id.slice(0, -1), 'ses_0'])
      expect([404, 200]).toContain((await test.as(secret, `/v1/sessions/${name}`)).status)
    const command = { method: 'POST', body: '{"type":"abort"}' }
    expect((await test.as(secret, `/v1/sessions/${test.other.id}/commands`, command)).status).toBe(404)
    const replay = await test.call(`/v1/sessions/${test.other.id}/events`, {
      headers: { authorization: `Bearer ${secret}`, 'last-event-id': '1' },
    })
    expect(replay.status).toBe(404)
  })

  it('lists, finds and searches only its own', async () => {
    await using test = await openTokenServer()
    const { secret } = await test.create({ name: 'a', role: 'viewer', session: test.id })
    const json = async (path: string) => (await test.as(secret, path)).json()
    expect(await json('/v1/sessions')).toMatchObject({ sessions: [{ id: test.id }], next: null })
    expect(await json(`/v1/sessions?startedFor=${test.other.id}`)).toEqual({ sessions: [], next: null })
    expect(await json(`/v1/search?q=one&session=${test.other.id}`)).toEqual({ hits: [], next: null })
    expect(await json('/v1/find?key=none')).toEqual({ session: null })
    expect(await json('/v1/latest')).toMatchObject({ session: { id: test.id } })
    expect((await test.as(secret, '/v1/models')).status).toBe(403)
  })

  it('sees the sessions that were started for it, and gets news of no other', async () => {
    await using test = await openTokenServer()
    const { secret } = await test.create({ name: 'a', role: 'viewer', session: test.id })
    const child = orThrow(
      await test.sessions.start({ workdir: '/work', parent: test.id, messages: [{ role: 'user', content: 'hi' }] }),
    )
    expect((await test.as(secret, `/v1/sessions/${child.id}/state?fields=meta`)).status).toBe(200)
    expect(await (await test.as(secret, '/v1/sessions')).json()).toMatchObject({
      sessions: [{ id: test.id }, { id: child.id }],
    })

    const response = await test.as(secret, '/v1/events')
    invariant(response.body, 'a stream has a body')
    const news = decodeNews(response.body)[Symbol.asyncIterator]()
    const first = news.next()
    for (const session of [test.other.id, test.id])
      await test.post(`/v1/sessions/${session}/commands`, '{"type":"enterPlan"}', test.asAdmin)
    expect((await first).value).toMatchObject({ type: 'session.changed', session: { id: test.id } })
    await news.return?.(undefined)
  })
})

describe('the files of a token for one session', () => {
  it('are its own and those of its session, and no file of another session by its hash', async () => {
    await using test = await openTokenServer()
    const { secret } = await test.create({ name: 'guest', role: 'driver', session: test.id })
    const store = async (bearer: string, text: string) => {
      const answer = await test.as(bearer, '/v1/blobs?name=a.txt', { method: 'POST', body: text })
      return StoredFile.parse(await answer.json()).file
    }
    const prompt = (bearer: string, path: string, file: object, type = 'queueFollowUp') =>
      test.as(bearer, `${path}/commands`, { method: 'POST', body: JSON.stringify({ type, content: [file] }) })
    const foreign = await store(test.tokens.admin, 'The secret of another session')
    expect((await prompt(test.tokens.admin, `/v1/sessions/${test.other.id}`, foreign)).status).toBe(202)

    const unknown = { ...foreign, blob: 'f'.repeat(64) }
    const refusalOf = async (file: object, type: string) => {
      const answer = await prompt(secret, test.path, file, type)
      const { error }: { error: { code: string; message: string } } = JSON.parse(await answer.text())
      return [answer.status, error.code, error.message]
    }
    for (const type of ['sendPrompt', 'queueSteering', 'queueFollowUp']) {
      const refusal = await refusalOf(foreign, type)
      expect(refusal).toEqual([404, 'blob_not_found', expect.any(String)])
      expect(refusal).toEqual(await refusalOf(unknown, type)) // does not tell whether the file exists
    }
    const seeds = JSON.stringify({ type: 'setHistory', messages: [{ role: 'user', content: [foreign] }] })
    const history = await test.as(secret, `${test.path}/commands`, { method: 'POST', body: seeds })
    expect(await codeOf(history)).toBe('blob_not_found')
    expect((await test.as(secret, `${test.path}/blobs/${foreign.blob}`)).status).toBe(404)

    const own = await store(secret, 'My own file')
    expect((await prompt(secret, test.path, own)).status).toBe(202)
    const shown = await store(test.tokens.admin, 'A file of this session')
    expect((await prompt(test.tokens.admin, test.path, shown)).status).toBe(202)
    expect((await prompt(secret, test.path, shown)).status).toBe(202)
  })
})

describe('a share link', () => {
  const share = async (test: Test) => {
    const answer = await test.post(`${test.path}/share`, '{}', test.asAdmin)
    expect(answer.status).toBe(201)
    return SharedSession.parse(await answer.json())
  }
  const exchange = (test: Test, token: string, headers: Record<string, string> = {}) =>
    fetch(`${test.server.url}/v1/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: test.server.url, ...headers },
      body: JSON.stringify({ token }),
    })

  it('has its secret in the fragment, which becomes a cookie for that session alone', async () => {
    await using test = await openTokenServer()
    const { link, token } = await share(test)
    const url = new URL(link)
    expect([url.pathname, url.search, url.hash.length]).toEqual(['/shared', '', 1 + 'holdfast_'.length + 43])
    expect(token).toMatchObject({ role: 'viewer', session: test.id })

    const login = await exchange(test, url.hash.slice(1))
    expect(await login.json()).toEqual({ role: 'viewer', session: test.id, expiresAt: null })
    const header = login.headers.get('set-cookie') ?? ''
    expect(header).toContain(`Path=/v1/sessions/${test.id};`)
    expect(header).toMatch(/; HttpOnly; SameSite=Strict$/)
    expect(header).not.toContain(url.hash.slice(1))

    const cookie = header.split(';')[0] ?? ''
    const read = (path: string) => test.call(path, { headers: { cookie, 'sec-fetch-site': 'same-origin' } })
    expect((await read(test.path)).status).toBe(200)
    expect((await read(`/v1/sessions/${test.other.id}`)).status).toBe(404)
    expect((await read('/v1/stats')).status).toBe(403)
    const write = await test.call(`${test.path}/commands`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      body: '{"type":"sendPrompt","content":"hi"}',
    })
    expect(await codeOf(write)).toBe('not_driver')

    await test.revoke(token.id)
    expect((await read(test.path)).status).toBe(401)
    expect((await exchange(test, url.hash.slice(1))).status).toBe(401)
  })

  it('cuts the stream of a page that a revoked link had opened', async () => {
    await using test = await openTokenServer()
    const { link, token } = await share(test)
    const login = await exchange(test, new URL(link).hash.slice(1))
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
    const stream = await test.call(`${test.path}/events`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } })
    invariant(stream.body, 'a stream has a body')
    const last = lastOf(decodeFrames(stream.body))
    await test.revoke(token.id)
    expect(await last).toMatchObject({ type: 'end', reason: 'revoked' })
  })

  it('is not exchanged for another site, and wrong secrets are counted', async () => {
    await using test = await openTokenServer()
    const { link } = await share(test)
    const secret = new URL(link).hash.slice(1)
    expect((await exchange(test, secret, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await exchange(test, secret, { 'content-type': 'text/plain' })).status).toBe(415)
    for (let count = 0; count < 10; count++) expect((await exchange(test, 'guess')).status).toBe(401)
    expect((await exchange(test, 'guess')).status).toBe(429)
    expect((await exchange(test, secret)).status).toBe(200)
  })

  it('leaves a forged or changed cookie without effect', async () => {
    await using test = await openTokenServer()
    const { link } = await share(test)
    const login = await exchange(test, new URL(link).hash.slice(1))
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
    const [name = '', value = ''] = cookie.split('=')
    const [user, until, , signature] = value.split('.')
    const page = name.replace('_shared', '')
    for (const forged of [
      `${name}=${user}.${until}..${signature}`,
      `${page}=${user}.${until}..${signature}`,
      `${page}=${value}x`,
    ])
      expect((await test.call(test.path, { headers: { cookie: forged } })).status).toBe(401)
    // Under the name of the page's cookie it still stands for its token only.
    expect((await test.call('/v1/stats', { headers: { cookie: `${page}=${value}` } })).status).toBe(403)
  })
})

describe('a login with a token', () => {
  it('lets the page do what the token allows, until it is revoked', async () => {
    await using test = await openTokenServer()
    const { secret, id } = await test.create({ name: 'desk', role: 'driver' })
    const login = await fetch(`${test.server.url}/v1/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: secret }),
    })
    expect(login.headers.get('set-cookie')).toContain('Path=/;')
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
    const headers = { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
    expect(
      (await test.call(`${test.path}/commands`, { method: 'POST', headers, body: '{"type":"abort"}' })).status,
    ).toBe(202)
    expect((await test.call('/v1/stats', { headers })).status).toBe(403)
    await test.revoke(id)
    expect((await test.call('/v1/sessions', { headers })).status).toBe(401)
  })
})

describe('a login link that a token made', () => {
  const openLink = (link: string) => fetch(link, { redirect: 'manual' })

  async function openLinks() {
    const test = await openTokenServer()
    const admin = await test.create({ name: 'desk', role: 'admin', expiresIn: '1h' })
    const createLink = async () => {
      const made = await test.as(admin.secret, '/v1/login-links', { method: 'POST', body: '{}' })
      return LoginLink.parse(await made.json()).link
    }
    const end = { revoked: () => test.revoke(admin.id), expired: async () => test.runtime.clock.advance(3_600_000) }
    return { ...test, createLink, end }
  }

  it.each(['revoked', 'expired'] as const)('ends when the token is %s, and so does its login', async (how) => {
    await using test = await openLinks()
    const [used, unused] = [await test.createLink(), await test.createLink()]
    const cookie = (await openLink(used)).headers.get('set-cookie')?.split(';')[0] ?? ''
    expect((await test.call('/v1/stats', { headers: { cookie } })).status).not.toBe(401)
    await test.end[how]()
    expect((await test.call('/v1/sessions', { headers: { cookie } })).status).toBe(401)
    const late = await openLink(unused)
    expect([late.status, late.headers.get('set-cookie')]).toEqual([401, null])
  })

  it('gives a login whose own links end with the token too', async () => {
    await using test = await openLinks()
    const cookie = (await openLink(await test.createLink())).headers.get('set-cookie')?.split(';')[0] ?? ''
    const headers = { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
    const made = await test.call('/v1/login-links', { method: 'POST', headers, body: '{}' })
    await test.end.revoked()
    expect((await openLink(LoginLink.parse(await made.json()).link)).status).toBe(401)
  })
})
