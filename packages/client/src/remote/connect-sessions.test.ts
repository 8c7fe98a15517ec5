import { ClientId, CommandId, invariant } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createScriptedServer, fails, json, type Reply, refused } from '../testing/scripted-server.ts'
import { message, meta, sessionId, view } from '../testing/story.ts'
import { connectSessions } from './connect-sessions.ts'

const opened = json({ meta, session: meta, seq: 4, view, messages: [message(3)], before: 3, summary: null, here: null })
const done = json({ seq: 5, result: { queued: 'steering' } }, 202)

async function openWith(script: readonly Reply[]) {
  const server = createScriptedServer([opened, ...script])
  const handle = await server.sessions.open('calm-harbor-12')
  invariant(handle.ok, 'the session opens')
  return { handle: handle.value, ...server }
}

describe('the sessions of a server', () => {
  it('can be opened by any name and have an id', async () => {
    const { handle, asked } = await openWith([])
    expect(handle.id).toBe(sessionId)
    expect(asked[0]?.path).toBe('/v1/sessions/calm-harbor-12/state?fields=meta')
    expect(asked[0]?.headers.get('authorization')).toBe('Bearer token-1')
  })

  it('are not requested by an invalid name', async () => {
    const { sessions, asked } = createScriptedServer([])
    for (const name of ['', '.', '..', '../x', 'calm harbor'])
      expect(await sessions.open(name)).toMatchObject({ ok: false, fault: { code: 'bad_id' } })
    expect(asked).toHaveLength(0)
  })

  it('can be listed and started', async () => {
    const { sessions, asked } = createScriptedServer([
      json({ sessions: [meta], next: 'c2' }),
      json({ session: meta }, 201),
    ])
    expect(await sessions.list({ search: 'a b', limit: 2 })).toEqual({
      ok: true,
      value: { sessions: [meta], next: 'c2' },
    })
    expect(asked[0]?.path).toBe('/v1/sessions?search=a+b&limit=2')
    expect(await sessions.start({ workdir: '/tmp/w' })).toMatchObject({ ok: true, value: { id: sessionId } })
    expect(asked[1]?.body).toEqual({ workdir: '/tmp/w' })
  })

  it('can be searched', async () => {
    const hit = { sessionId, title: 'T', messageId: 3, kind: 'user', at: '2026-01-02T03:04:05.678Z', snippet: 'a b' }
    const { sessions, asked } = createScriptedServer([json({ hits: [hit], next: null }), json({ hits: 1 })])
    expect(await sessions.search({ text: 'a b*', role: 'user' })).toEqual({
      ok: true,
      value: { hits: [hit], next: null },
    })
    expect(asked[0]?.path).toBe('/v1/search?q=a+b*&role=user')
    expect((await sessions.search({ text: 'a' })).ok).toBe(false)
  })

  it('are started once: a start is never retried', async () => {
    const { sessions, asked } = createScriptedServer([refused])
    expect(await sessions.start({ workdir: '/tmp/w' })).toMatchObject({ ok: false, fault: { code: 'unreachable' } })
    expect(asked).toHaveLength(1)
  })

  it('return snapshots and pages', async () => {
    const page = { session: meta, messages: [message(1), message(2)], before: null, after: 3 }
    const { handle, asked } = await openWith([opened, json(page)])
    expect(await handle.snapshot()).toMatchObject({ ok: true, value: { type: 'snapshot', seq: 4, before: 3, meta } })
    expect(await handle.page({ before: message(3).id, limit: 2 })).toEqual({ ok: true, value: page })
    expect(asked.at(-1)?.path).toBe(`/v1/sessions/${sessionId}/messages?before=3&limit=2`)
  })

  it('report their health', async () => {
    const { sessions } = createScriptedServer([json({ status: 'ok', version: '1.2.3' })])
    expect(await sessions.health()).toEqual({ ok: true, value: { status: 'ok', version: '1.2.3' } })
  })

  it.each<[string, Reply]>([
    ['cannot be reached', refused],
    ['are behind something else', () => new Response('<html>', { status: 502 })],
    ['answer nonsense', () => new Response('<html>')],
    ['answer another shape', json({ sessions: 'none' })],
  ])('are unreachable when they %s', async (_, reply) => {
    const { sessions } = createScriptedServer([reply])
    expect(await sessions.list()).toMatchObject({ ok: false, fault: { code: 'unreachable' } })
  })

  it('send no token when none is given', async () => {
    const sent: (string | null)[] = []
    const sessions = connectSessions({
      url: 'http://127.0.0.1:4820',
      fetch: async (_, init) => {
        sent.push(new Headers(init?.headers).get('authorization'))
        return Response.json({ sessions: [], next: null })
      },
    })
    await sessions.list()
    expect(sent).toEqual([null])
  })
})

describe('a command', () => {
  it('is retried with the same id until it is answered', async () => {
    const broken: Reply = () => new Response('{"seq":', { status: 202 })
    const { handle, asked, waits } = await openWith([refused, broken, done])
    expect(await handle.submit({ type: 'sendPrompt', content: 'hi' })).toEqual({
      ok: true,
      value: { seq: 5, result: { queued: 'steering' } },
    })
    const bodies = asked.slice(1).map(({ body }) => JSON.stringify(body))
    expect(bodies).toHaveLength(3)
    expect(new Set(bodies).size).toBe(1)
    expect(asked[1]?.body).toMatchObject({ commandId: expect.stringMatching(/^[0-9a-f]{32}$/) })
    expect(waits).toEqual([188, 375])
  })

  it('gets a new id each time', async () => {
    const { handle, asked } = await openWith([done, done])
    await handle.submit({ type: 'abort' })
    await handle.submit({ type: 'abort' })
    expect(asked[1]?.body).not.toEqual(asked[2]?.body)
  })

  it('fails after five tries', async () => {
    const { handle, asked } = await openWith([refused, refused, refused, refused, refused, done])
    expect(await handle.submit({ type: 'abort' })).toMatchObject({ ok: false, fault: { code: 'unreachable' } })
    expect(asked).toHaveLength(6)
  })

  it('is not retried when it is refused', async () => {
    const { handle, asked } = await openWith([fails('nothing_to_continue', 409)])
    expect(await handle.submit({ type: 'continue' })).toMatchObject({
      ok: false,
      fault: { code: 'nothing_to_continue' },
    })
    expect(asked).toHaveLength(2)
  })

  it('is sent with the given id and client', async () => {
    const { handle, asked } = await openWith([done])
    const commandId = CommandId.parse('mine')
    await handle.submit({ type: 'abort' }, { commandId, as: ClientId.parse('tab-1') })
    expect(asked[1]?.body).toEqual({ type: 'abort', commandId: 'mine' })
    expect(asked[1]?.headers.get('holdfast-attachment')).toBe('tab-1')
  })
})
