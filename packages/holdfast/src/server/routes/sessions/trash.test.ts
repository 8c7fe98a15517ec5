import { connectSessions } from '@holdfast/client'
import { BlobHash, orThrow } from '@holdfast/protocol'
import { aPng } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { aRemoval, meta, sessionId } from '../../testing/fake-sessions.ts'
import { openRuntimeServer } from '../../testing/runtime-server.ts'
import { codeOf, openTestServer } from '../../testing/test-server.ts'

type Test = Awaited<ReturnType<typeof openTestServer>>
const session = `/v1/sessions/${sessionId}`
const asAdmin = ({ tokens }: Test) => ({ authorization: `Bearer ${tokens.admin}` })

const answerTo = async (response: Response) => [response.status, await response.json()]

describe('DELETE /v1/sessions/:id', () => {
  it('moves a session to the trash', async () => {
    await using test = await openTestServer()
    expect(await answerTo(await test.call(session, { method: 'DELETE' }))).toEqual([200, aRemoval])
    await test.call(`${session}?dryRun=true`, { method: 'DELETE' })
    expect(test.fake.touched).toEqual([
      { delete: sessionId, options: {} },
      { delete: sessionId, options: { dryRun: true } },
    ])
  })

  it('allows force to admins only', async () => {
    await using test = await openTestServer()
    const refused = await test.call(`${session}?force=true`, { method: 'DELETE' })
    expect([refused.status, await codeOf(refused)]).toEqual([403, 'not_driver'])
    expect(test.fake.touched).toEqual([])
    await test.call(`${session}?force=true`, { method: 'DELETE', headers: asAdmin(test) })
    expect(test.fake.touched).toEqual([{ delete: sessionId, options: { force: true } }])
  })

  it.each(['force=yes', 'now=true'])('refuses %s', async (query) => {
    await using test = await openTestServer()
    expect((await test.call(`${session}?${query}`, { method: 'DELETE' })).status).toBe(400)
    expect(test.fake.touched).toEqual([])
  })
})

describe('POST /v1/sessions/:id/purge', () => {
  it('deletes a session permanently, for admins only', async () => {
    await using test = await openTestServer()
    const refused = await test.post(`${session}/purge`, '{}')
    expect([refused.status, await codeOf(refused)]).toEqual([403, 'not_driver'])
    expect(test.fake.touched).toEqual([])
    const body = JSON.stringify({ force: true })
    const headers = { ...asAdmin(test), 'content-type': 'application/json' }
    expect(await answerTo(await test.call(`${session}/purge`, { method: 'POST', headers, body }))).toEqual([
      200,
      aRemoval,
    ])
    expect(test.fake.touched).toEqual([{ purge: sessionId, options: { force: true } }])
  })
})

describe('the trash', () => {
  it('lists and restores sessions', async () => {
    await using test = await openTestServer()
    expect(await answerTo(await test.call('/v1/trash?limit=5&cursor=c'))).toEqual([
      200,
      { sessions: [meta], next: null },
    ])
    expect(await answerTo(await test.call(`${session}/restore`, { method: 'POST' }))).toEqual([200, { session: meta }])
    expect(test.fake.touched).toEqual([{ list: { limit: 5, cursor: 'c', trashed: true } }, { restore: sessionId }])
  })

  it.each(['/v1/prune', '/v1/clear', '/v1/trash/empty'])('%s is for admins only', async (path) => {
    await using test = await openTestServer()
    const response = await test.post(path, '{}')
    expect([response.status, await codeOf(response)]).toEqual([403, 'not_driver'])
    expect(test.fake.touched).toEqual([])
  })

  it('is filled and emptied by its routes', async () => {
    await using test = await openTestServer()
    const post = async (path: string, body: object) =>
      (await test.post(path, JSON.stringify(body), asAdmin(test))).status
    const before = '2026-01-01T00:00:00.000Z'
    expect(await post('/v1/clear', { workspace: '/w', dryRun: true })).toBe(200)
    expect(await post('/v1/prune', { before, dryRun: true })).toBe(200)
    expect(await post('/v1/prune', { olderThan: '10m' })).toBe(200)
    expect(await post('/v1/trash/empty', { before })).toBe(200)
    expect(test.fake.touched).toEqual([
      { clearAll: { workspace: '/w', dryRun: true } },
      { prune: { before, dryRun: true } },
      { prune: { before: new Date(test.clock.ms - 600_000).toISOString() } },
      { emptyTrash: { before } },
    ])
  })

  it.each([{}, { before: 'yesterday' }, { olderThan: 'old' }, { before: '2026-01-01T00:00:00.000Z', olderThan: '1d' }])(
    'is not filled by %j',
    async (body) => {
      await using test = await openTestServer()
      const response = await test.post('/v1/prune', JSON.stringify(body), asAdmin(test))
      expect([response.status, await codeOf(response)]).toEqual([400, 'bad_request'])
      expect(test.fake.touched).toEqual([])
    },
  )

  it('refuses an age beyond all dates and names the field', async () => {
    await using test = await openTestServer()
    const response = await test.post('/v1/prune', JSON.stringify({ olderThan: '900000d' }), asAdmin(test))
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('olderThan: give a whole number with its unit, up to 1,000 years')
    expect(test.fake.touched).toEqual([])
  })
})

describe('GET /v1/sessions', () => {
  it('filters by model, age, pinned, running and waiting', async () => {
    await using test = await openTestServer()
    await test.call('/v1/sessions?model=demo/agent&age=10m&pinned=false&running=true&waiting=true')
    const activeFrom = new Date(test.clock.ms - 600_000).toISOString()
    const asked = { model: 'demo/agent', activeFrom, pinned: false, running: true, waiting: true }
    expect(test.fake.touched).toEqual([{ list: asked }])
  })

  it.each(['age=7', 'pinned=yes', 'running=false', 'waiting=false', 'trashed=true', 'model=x'])(
    'refuses %s',
    async (query) => {
      await using test = await openTestServer()
      expect((await test.call(`/v1/sessions?${query}`)).status).toBe(400)
      expect(test.fake.touched).toEqual([])
    },
  )
})

describe('GET /v1/sessions/:id/blobs/:hash', () => {
  it('sends bytes so that a browser neither shows nor runs them', async () => {
    await using test = await openTestServer()
    const hash = 'a'.repeat(64)
    const response = await test.call(`${session}/blobs/${hash}`)
    expect([response.status, await response.text()]).toEqual([200, '<script>alert(1)</script>'])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${hash}"`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, max-age=31536000, immutable',
    })
    expect(test.fake.touched).toEqual([{ open: sessionId }, { blob: hash }])
  })

  it.each(['..%2f..%2fx', 'A'.repeat(64), 'a'.repeat(63), 'x'])('refuses %s as a hash', async (hash) => {
    await using test = await openTestServer()
    expect((await test.call(`${session}/blobs/${hash}`)).status).toBe(400)
    expect(test.fake.touched).toEqual([])
  })
})

describe('a remote client', () => {
  it('deletes and restores sessions like a local one', async () => {
    await using test = await openRuntimeServer()
    const sessions = connectSessions({ url: test.server.url, token: test.tokens.admin })
    const { file } = orThrow(await sessions.storeFile(aPng(), { name: 'a.png' }))
    const handle = orThrow(await sessions.open(test.runtime.handle.id))
    await handle.submit({ type: 'sendPrompt', content: [file] })
    const chunks: Uint8Array[] = []
    for await (const chunk of orThrow(await handle.blob(file.blob))) chunks.push(chunk)
    expect(Buffer.concat(chunks)).toEqual(Buffer.from(aPng()))
    expect(await handle.blob(BlobHash.parse('0'.repeat(64)))).toMatchObject({ fault: { code: 'blob_not_found' } })

    const { id } = handle
    expect(orThrow(await sessions.delete(id, { force: true, dryRun: true }))).toMatchObject({ count: 1, dryRun: true })
    expect(orThrow(await sessions.delete(id, { force: true }))).toMatchObject({ count: 1, gone: [{ id }] })
    expect(orThrow(await sessions.list({ trashed: true })).sessions).toMatchObject([
      { id, trashedAt: expect.any(String) },
    ])
    expect(await sessions.open(id)).toMatchObject({ fault: { code: 'session_trashed' } })
    expect(orThrow(await sessions.restore(id)).id).toBe(id)
    await handle.submit({ type: 'pinSession' })
    expect(orThrow(await sessions.clearAll())).toMatchObject({ count: 0, stayed: [{ id, reason: 'pinned' }] })
    await handle.submit({ type: 'pinSession' })
    const before = new Date(Date.now() + 1e12).toISOString()
    expect(orThrow(await sessions.prune({ before }))).toMatchObject({ count: 1 })
    expect(orThrow(await sessions.emptyTrash())).toMatchObject({ count: 1 })
    expect(await sessions.restore(id)).toMatchObject({ fault: { code: 'session_not_found' } })
  })
})
