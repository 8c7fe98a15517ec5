import { fault, HoldfastError } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { at, meta, sessionId, view } from '../testing/fake-sessions.ts'
import { openRuntimeServer } from '../testing/runtime-server.ts'
import { codeOf, openTestServer } from '../testing/test-server.ts'

const session = `/v1/sessions/${sessionId}`

describe('sessions', () => {
  it('are listed with filters', async () => {
    await using test = await openTestServer()
    const response = await test.call('/v1/sessions?workspace=%2Ftmp%2Fw&search=hi&limit=5&cursor=c')
    expect(await response.json()).toEqual({ sessions: [meta], next: null })
    expect(test.fake.touched).toEqual([{ list: { workspace: '/tmp/w', search: 'hi', limit: 5, cursor: 'c' } }])
  })

  it.each(['limit=0', 'limit=-1', 'limit=1e9', 'limit=x', 'limit=9999', 'colour=red'])(
    'are not listed with %s',
    async (query) => {
      await using test = await openTestServer()
      const response = await test.call(`/v1/sessions?${query}`)
      expect([response.status, await codeOf(response)]).toEqual([400, 'bad_request'])
      expect(test.fake.touched).toEqual([])
    },
  )

  it('are searched by text and filters', async () => {
    await using test = await openTestServer()
    const query = `q=harbor+%22a+b%22&role=user&limit=5&session=${meta.id}&since=2026-01-02T03:04:05Z`
    const found = await test.call(`/v1/search?${query}`)
    expect([found.status, await found.json()]).toEqual([
      200,
      {
        hits: [{ sessionId: meta.id, title: meta.title, messageId: 1, kind: 'user', at, snippet: 'hi' }],
        next: null,
      },
    ])
    const filters = { role: 'user', limit: 5, session: meta.id, since: '2026-01-02T03:04:05Z' }
    expect(test.fake.touched).toEqual([{ search: { text: 'harbor "a b"', ...filters } }])
    for (const wrong of [
      '',
      'q=',
      'q=a&role=nobody',
      'q=a&since=yesterday',
      'q=a&since=2026-02-30T00:00:00Z',
      'q=a&limit=0',
      'q=a&color=red',
    ]) {
      expect([wrong, (await test.call(`/v1/search?${wrong}`)).status]).toEqual([wrong, 400])
    }
  })

  it('are started with 201, or refused with a fault', async () => {
    await using test = await openTestServer()
    const started = await test.post('/v1/sessions', '{"workdir":"/tmp/w","model":"demo/agent"}')
    expect(started.status).toBe(201)
    expect(started.headers.get('location')).toBe(session)
    expect(await started.json()).toEqual({ session: meta })
    const refused = await test.post('/v1/sessions', '{"workdir":"/missing"}')
    expect([refused.status, await codeOf(refused)]).toEqual([400, 'bad_workdir'])
    expect((await test.post('/v1/sessions', '{"workdir":7}')).status).toBe(400)
    expect((await test.post('/v1/sessions', '{}')).status).toBe(201)
    const relative = await test.post('/v1/sessions', '{"workdir":"."}')
    expect([relative.status, await codeOf(relative)]).toEqual([400, 'bad_workdir'])
  })

  it('are read by id or handle', async () => {
    await using test = await openTestServer()
    const record = test.fake.say('hello')
    const answer = await (await test.call(session)).json()
    expect(answer).toMatchObject({ session: meta, view, seq: 1, before: null, messages: [{ id: record.seq, at }] })
    expect(await (await test.call(`/v1/sessions/${meta.handle}`)).json()).toEqual(answer)
    const unknown = await test.call('/v1/sessions/cold-harbor-1')
    expect([unknown.status, await codeOf(unknown)]).toEqual([404, 'session_not_found'])
  })

  it('return their transcript in pages', async () => {
    await using test = await openTestServer()
    for (const text of ['a', 'b', 'c']) test.fake.say(text)
    const page = await (await test.call(`${session}/messages?before=3&limit=1`)).json()
    expect(page).toMatchObject({ session: meta, messages: [{ id: 2, text: 'b' }], before: 2, after: null })
    expect((await test.call(`${session}/messages?before=-3`)).status).toBe(400)
    expect((await test.call(`${session}/messages?limit=501`)).status).toBe(400)
  })
})

describe('session names', () => {
  const names = ['..%2Fx', '..%2f..%2fetc%2fpasswd', '%252e%252e', '%2Fabs', 'a%00b', '%00', 'CON', '__proto__', '%ff']
  it.each([...names, 'a%0d%0ab', 'x'.repeat(300), 'ses_', '@latest', 'sés_1'])(
    'like %s are refused before any session is opened',
    async (name) => {
      await using test = await openTestServer()
      for (const rest of ['', '/messages', '/events']) {
        const response = await test.call(`/v1/sessions/${name}${rest}`)
        expect([response.status, await codeOf(response)]).toEqual([400, 'bad_id'])
      }
      const response = await test.post(`/v1/sessions/${name}/commands`, '{"type":"abort"}')
      expect([response.status, await codeOf(response)]).toEqual([400, 'bad_id'])
      expect(test.fake.touched).toEqual([])
    },
  )

  it.each(['../x', '../../etc/passwd', '.', '..', '%2e%2e/x', '%2E./health', '..\\x'])(
    'with path traversal as %s are not normalized into another route',
    async (name) => {
      await using test = await openTestServer()
      const lines = `Host: 127.0.0.1:${test.server.port}\r\nAuthorization: Bearer ${test.tokens.driver}`
      const answer = await test.raw(`GET /v1/sessions/${name} HTTP/1.1\r\n${lines}\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1.1 400 /)
      expect(answer).toContain('"code":"bad_id"')
      expect(test.fake.touched).toEqual([])
    },
  )
})

describe('commands', () => {
  it('answer 202 with the result of the method', async () => {
    await using test = await openTestServer()
    const response = await test.post(`${session}/commands`, '{"type":"sendPrompt","commandId":"c1","content":"hi"}')
    expect(response.status).toBe(202)
    expect(await response.json()).toEqual({ seq: 1, result: { did: 'sendPrompt' } })
    expect(test.fake.touched.at(-1)).toEqual({
      submit: { type: 'sendPrompt', content: [{ type: 'text', text: 'hi' }] },
      commandId: 'c1',
      as: 'token:driver',
    })
  })

  it('get a new id each if the client gave none', async () => {
    await using test = await openRuntimeServer()
    for (const text of ['one', 'two'])
      await test.post(`${test.path}/commands`, JSON.stringify({ type: 'addSystemMessage', text }))
    const records = await test.runtime.store.read(test.runtime.handle.id, { after: 1, limit: 10 })
    const ids = records.map((record) => ('lost' in record ? null : record.commandId))
    expect(ids[0]).toMatch(/^[A-Za-z0-9_-]{20,64}$/)
    expect(new Set(ids).size).toBe(2)
  })

  it('are refused with the status of the fault', async () => {
    await using test = await openTestServer()
    const response = await test.post(`${session}/commands`, '{"type":"continue"}')
    expect([response.status, await codeOf(response)]).toEqual([409, 'nothing_to_continue'])
  })

  it('explain unknown commands and missing fields', async () => {
    await using test = await openTestServer()
    const messageTo = async (body: string) => {
      const response = await test.post(`${session}/commands`, body)
      expect(response.status).toBe(400)
      return Refused.parse(await response.json()).error.message
    }
    expect(await messageTo('{"type":"abrt"}')).toBe("There is no command abrt. Did you mean 'abort'?")
    expect(await messageTo('{"type":"wombat"}')).toContain('Known commands: sendPrompt, ')
    expect(await messageTo('{"type":"sendPrompt"}')).toBe(
      'Invalid command: content: missing; give the prompt, as a text or a list of parts.',
    )
  })

  it('refuse an invalid client id', async () => {
    await using test = await openTestServer()
    const response = await test.post(`${session}/commands`, '{"type":"abort"}', { 'holdfast-attachment': 'a b' })
    expect([response.status, await codeOf(response)]).toEqual([400, 'bad_request'])
    expect(test.fake.touched).toEqual([])
  })
})

const Refused = z.object({ error: z.object({ message: z.string() }) })
const Failed = z.object({ error: z.object({ code: z.string(), details: z.object({ id: z.string() }) }) })

describe('the API', () => {
  it('answers 404 for an unknown route and 405 for a wrong method', async () => {
    await using test = await openTestServer()
    const missing = await test.call('/v1/none')
    expect([missing.status, await codeOf(missing)]).toEqual([404, 'not_found'])
    const wrong = await test.call('/v1/sessions', { method: 'DELETE' })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, POST'])
    expect((await test.call(session, { method: 'HEAD' })).status).toBe(405)
    expect(test.fake.touched).toEqual([])
  })

  it('forbids caching and framing of its answers', async () => {
    await using test = await openTestServer()
    for (const response of [await test.call('/v1/sessions'), await fetch(`${test.server.url}/v1/sessions`)]) {
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('referrer-policy')).toBe('no-referrer')
      expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    }
  })

  it('answers a thrown fault as it is, and reports server errors to the log', async () => {
    await using test = await openTestServer()
    const bad = fault('bad_request', 'The cursor is invalid. Use the cursor that the last page returned.', {
      cursor: 'xx',
    })
    test.fake.trouble.next = new HoldfastError(bad)
    const response = await test.call('/v1/sessions?cursor=xx')
    expect([response.status, await response.json()]).toMatchObject([400, { error: bad }])
    expect(test.problems).toEqual([])
    test.fake.trouble.next = new HoldfastError(fault('storage_error', 'The disk is full.'))
    const full = await test.call(session)
    expect([full.status, await codeOf(full)]).toEqual([503, 'storage_error'])
    expect(test.problems).toMatchObject([{ cause: test.fake.trouble.next }])
    test.fake.trouble.next = new HoldfastError(fault('internal', 'secret'))
    const internal = await test.call(session)
    expect(internal.status).toBe(500)
    expect(await internal.text()).not.toContain('secret')
  })

  it('answers an unexpected error with an id only', async () => {
    await using test = await openTestServer()
    test.fake.trouble.next = new Error('secret at /home/someone/file.ts:12')
    const response = await test.call(`${session}?`)
    expect(response.status).toBe(500)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    const { error } = Failed.parse(await response.json())
    expect(error).toMatchObject({ code: 'internal', details: { id: expect.any(String) } })
    expect(JSON.stringify(error)).not.toMatch(/secret|someone|\.ts/)
    expect(test.problems).toEqual([{ where: `GET ${session} (${error.details.id})`, cause: test.fake.trouble.next }])
  })
})
