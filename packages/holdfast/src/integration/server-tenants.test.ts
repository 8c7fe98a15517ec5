import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeNews } from '@holdfast/client'
import { commandTypes, orThrow, type TokenRole } from '@holdfast/protocol'
import { type PostgresServer, startPostgres } from '@holdfast/testkit/postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eachCommand } from '../../../core/src/testing/each-command.ts'
import { open } from '../open.ts'
import { openServer } from '../server/index.ts'
import { routes } from '../server/routes/routes.ts'
import { createTransfer } from '../server-transfer.ts'

let home = ''
let database: PostgresServer
beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'hf-tenants-')))
  database = await startPostgres()
})
afterAll(async () => {
  await database.close()
  await rm(home, { recursive: true, force: true })
})

const roles: readonly TokenRole[] = ['viewer', 'driver', 'admin']
const rank = { viewer: 0, driver: 1, admin: 2 } as const

type Asked = { readonly method?: string; readonly body?: unknown; readonly bytes?: Uint8Array }

/** Opens a server. */
async function openNode(store: string) {
  const environment = { HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] }
  const holdfast = orThrow(await open({ environment, store, model: 'demo/agent' }))
  const server = orThrow(
    await openServer({
      host: '127.0.0.1',
      port: 0,
      version: '1',
      now: Date.now,
      pageDir: null,
      onProblem: () => undefined,
      sessions: holdfast.handles,
      transfer: createTransfer(holdfast),
      tokens: [],
      storedTokens: holdfast.liveTokens,
      tenants: holdfast.tenants,
      ...holdfast.serverParts,
      rateLimit: null,
    }),
  )
  return { holdfast, server }
}

/** Opens a server with a token of each role of two tenants. In a cluster, the second tenant uses another node than the first. */
async function openShared(store: string) {
  const first = await openNode(store)
  const second = store === 'memory:' ? first : await openNode(store)
  const { holdfast } = first
  const createTokens = async (tenant: string, { url }: { readonly url: string }) => {
    const made = await Promise.all(
      roles.map(async (role) => {
        const created = orThrow(await holdfast.liveTokens.create({ name: `${tenant} ${role}`, role, tenant }))
        return [role, created] as const
      }),
    )
    const tokens = new Map(made)
    const as =
      (role: TokenRole) =>
      async (path: string, { method = 'GET', body, bytes }: Asked = {}) => {
        const headers = { authorization: `Bearer ${tokens.get(role)?.secret}`, 'content-type': 'application/json' }
        const sent = bytes ?? (body === undefined ? undefined : JSON.stringify(body))
        const answer = await fetch(`${url}${path}`, { method, headers, ...(sent && { body: sent }) })
        const text = await answer.text()
        return { status: answer.status, text, json: text.startsWith('{') ? JSON.parse(text) : null }
      }
    return { as, url, idOf: (role: TokenRole) => tokens.get(role)?.id ?? '', tokens }
  }
  const [acme, other] = [await createTokens('acme', first.server), await createTokens('other', second.server)]
  return {
    holdfast,
    acme,
    other,
    async [Symbol.asyncDispose]() {
      for (const one of new Set([second, first])) {
        await one.server.close()
        await one.holdfast.close()
      }
    },
  }
}

const hidden = 'Zebra plans'

/** Fills the tenant `acme`: a session with a key and a file, one in the trash, and a share link. */
async function fill({ acme }: Awaited<ReturnType<typeof openShared>>) {
  const admin = acme.as('admin')
  const start = (body: object) => admin('/v1/sessions', { method: 'POST', body: { workdir: home, ...body } })
  const file = (await admin('/v1/blobs?name=zebra.txt', { method: 'POST', bytes: Buffer.from('zebra') })).json.file
  const content = [{ type: 'text', text: 'Hide the zebra' }, file]
  const started = await start({ title: hidden, key: 'plans', messages: [{ role: 'user', content }] })
  const { id, handle } = started.json.session
  const trashed = (await start({ title: `${hidden} old` })).json.session.id
  await admin(`/v1/sessions/${trashed}?force=true`, { method: 'DELETE' })
  const shared = await admin(`/v1/sessions/${id}/share`, { method: 'POST', body: {} })
  return { id, handle, trashed, file, shared: shared.json.token.id as string }
}

type Tenant = Awaited<ReturnType<typeof openShared>>['acme']

/** Opens a stream of several sessions, with the news. `until` returns all text up to some words. */
async function openStream({ url, tokens }: Tenant) {
  const authorization = `Bearer ${tokens.get('driver')?.secret}`
  const { body } = await fetch(`${url}/v1/stream`, { headers: { authorization } })
  if (body === null) throw new Error('a stream has a body')
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const until = async (words: string): Promise<string> => {
    while (!text.includes(words)) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`the stream ended before ${words}`)
      text += value
    }
    return text
  }
  const id = /"stream":"([^"]+)"/.exec(await until('"stream":"'))?.[1]
  if (id === undefined) throw new Error('a stream begins with its id')
  return { id, until }
}

const queryOf: Readonly<Record<string, string>> = {
  '/v1/search': '?q=zebra',
  '/v1/find': '?key=plans',
  '/v1/sessions/:id/file': '?path=a.txt',
  '/v1/tools': '?workdir=/',
  '/v1/folders': '?text=/none',
  '/v1/folders/complete': '?workdir=/none',
}
const bodyOf: Readonly<Record<string, unknown>> = {
  '/v1/sessions/:id/commands': { type: 'rename', title: 'Mine' },
  '/v1/sessions/:id/attachments/:attachment/handover': { client: 'tab-2' },
  '/v1/prune': { olderThan: '1m' },
  '/v1/tokens': { name: 'more', role: 'viewer' },
}

describe.each(['memory', 'postgres'] as const)('tenants on a %s store', (kind) => {
  const openHere = () =>
    openShared(
      kind === 'memory'
        ? 'memory:'
        : `${database.url(`tenants_${Math.random()}`.replace('.', ''))}&durability=unchecked`,
    )

  it('see nothing of each other through any route, and change nothing', { timeout: 120_000 }, async () => {
    await using shared = await openHere()
    const secret = await fill(shared)
    const admin = shared.acme.as('admin')
    const before = [await admin(`/v1/sessions/${secret.id}`), await admin('/v1/trash'), await admin('/v1/tokens')]
    const seen: string[] = []
    for (const role of roles)
      for (const { method, path, access } of routes) {
        // Streams have tests of their own.
        if (access.role === 'open' || path === '/v1/events' || path.startsWith('/v1/stream')) continue
        for (const name of [secret.id, secret.handle, secret.id.slice(0, -1), secret.trashed]) {
          const route = path
            .replace(':id', name)
            .replace(':hash', secret.file.blob)
            .replace(':token', shared.acme.idOf('viewer'))
            .replace(':attachment', 'tab-1')
          const body = method === 'POST' && path !== '/v1/blobs' ? { body: bodyOf[path] ?? {} } : {}
          const answer = await shared.other.as(role)(`${route}${queryOf[path] ?? ''}`, { method, ...body })
          const what = `${role}: ${method} ${path}`
          const may = rank[role] >= rank[access.role] && !access.isOfServer
          if (!may) expect([what, answer.status, answer.json?.error?.code]).toEqual([what, 403, 'not_driver'])
          else if (path.includes(':id'))
            expect([what, answer.status, answer.json?.error?.code]).toEqual([what, 404, 'session_not_found'])
          else expect([what, answer.status === 401 || answer.status >= 500]).toEqual([what, false])
          const told = answer.text.replaceAll(name, '').replaceAll(shared.acme.idOf('viewer'), '')
          for (const word of [hidden, secret.id, secret.trashed, secret.shared, 'acme'])
            expect([what, told.includes(word)]).toEqual([what, false])
          if (may) seen.push(what)
          if (!path.includes(':id')) break
        }
      }
    expect(seen.length).toBeGreaterThan(80)
    const after = [await admin(`/v1/sessions/${secret.id}`), await admin('/v1/trash'), await admin('/v1/tokens')]
    expect(after.map(({ json }) => json)).toEqual(before.map(({ json }) => json))
  })

  it('send no command to a session of another', { timeout: 120_000 }, async () => {
    await using shared = await openHere()
    const { id } = await fill(shared)
    const before = (await shared.acme.as('admin')(`/v1/sessions/${id}`)).json.seq
    for (const type of commandTypes) {
      const body = eachCommand[type]
      const answer = await shared.other.as('admin')(`/v1/sessions/${id}/commands`, { method: 'POST', body })
      expect([type, ['session_not_found', 'not_driver'].includes(answer.json.error.code)]).toEqual([type, true])
    }
    expect((await shared.acme.as('admin')(`/v1/sessions/${id}`)).json.seq).toBe(before)
  })

  it('name no session of another in a query or a body', async () => {
    await using shared = await openHere()
    const { id } = await fill(shared)
    const admin = shared.other.as('admin')
    const start = { method: 'POST', body: { workdir: home, parent: id } }
    expect((await admin('/v1/sessions', start)).json.error.code).toBe('session_not_found')
    const token = { method: 'POST', body: { name: 'mine', role: 'viewer', session: id } }
    expect((await admin('/v1/tokens', token)).json.error.code).toBe('session_not_found')
    const found = await admin(`/v1/search?q=zebra&session=${id}`)
    expect([found.json.hits ?? [], found.text.includes('zebra')]).toEqual([[], false])
    for (const list of ['/v1/sessions', '/v1/trash'])
      expect((await admin(`${list}?startedFor=${id}`)).json.sessions).toEqual([])
    expect((await shared.acme.as('admin')(`/v1/sessions?startedFor=${id}`)).json.sessions).toEqual([])
    expect((await shared.acme.as('admin')(`/v1/search?q=zebra&session=${id}`)).json.hits).toHaveLength(1)
  })

  it('follow no session of another, and use no stream of another', async () => {
    await using shared = await openHere()
    const { id } = await fill(shared)
    const own = (await shared.other.as('driver')('/v1/sessions', { method: 'POST', body: { workdir: home } })).json
    const stream = await openStream(shared.other)
    const post = (who: 'acme' | 'other', path: string, body: object) =>
      shared[who].as('driver')(`/v1/stream/${path}`, { method: 'POST', body })
    const refused = await post('other', `${stream.id}/follow`, { session: id })
    expect([refused.status, refused.json.error.code]).toEqual([404, 'session_not_found'])
    expect((await post('acme', `${stream.id}/follow`, { session: id })).json.error.code).toBe('not_found')
    expect((await post('acme', `${stream.id}/unfollow`, { session: id })).json.error.code).toBe('not_found')
    expect((await post('acme', `${stream.id}/join`, { tag: 'w1' })).json.error.code).toBe('not_found')
    expect((await shared.acme.as('admin')(`/v1/stream/${stream.id}`, { method: 'DELETE' })).status).toBe(404)
    expect((await post('other', `${stream.id}/follow`, { session: own.session.id })).status).toBe(200)
    const rename = { method: 'POST', body: { type: 'rename', title: 'Changed' } }
    await shared.acme.as('driver')(`/v1/sessions/${id}/commands`, rename)
    await shared.other.as('driver')(`/v1/sessions/${own.session.id}/commands`, rename)
    expect(await stream.until('Changed')).not.toContain(id)
  })

  it('hear that a session of theirs was deleted forever, and that no other was', async () => {
    await using shared = await openHere()
    const { id } = await fill(shared)
    const start = { method: 'POST', body: { workdir: home, title: 'Gone' } }
    const own = (await shared.other.as('admin')('/v1/sessions', start)).json.session.id as string
    // Nothing else is told of a session that is not loaded.
    await shared.acme.as('admin')(`/v1/sessions/${id}/stop`, { method: 'POST' })
    await shared.other.as('admin')(`/v1/sessions/${own}/stop`, { method: 'POST' })
    const streams = [await openStream(shared.acme), await openStream(shared.other)] as const
    const purge = { method: 'POST', body: { force: true } }
    expect((await shared.acme.as('admin')(`/v1/sessions/${id}/purge`, purge)).json.count).toBe(1)
    expect((await shared.other.as('admin')(`/v1/sessions/${own}/purge`, purge)).json.count).toBe(1)
    const [first, second] = await Promise.all(streams.map((stream) => stream.until('session.removed')))
    expect([first?.includes(id), first?.includes(own)]).toEqual([true, false])
    expect([second?.includes(id), second?.includes(own)]).toEqual([false, true])
    expect(`${first}${second}`).not.toContain('"tenant"')
  })

  it('take back trust in their own sessions only', async () => {
    await using shared = await openHere()
    const { id } = await fill(shared)
    const session = await shared.holdfast.startSession({ workdir: home })
    await session.setToolTrust('write_file', 'workspace')
    const command = { method: 'POST', body: { type: 'revokeToolTrust', tool: 'all' } }
    expect((await shared.acme.as('driver')(`/v1/sessions/${id}/commands`, command)).status).toBe(202)
    const next = await shared.holdfast.startSession({ workdir: home })
    expect(await next.listToolTrust()).toMatchObject([{ tool: 'write_file', scope: 'workspace' }])
  })

  it('see what happens to calls of tools, but no rule of the server', async () => {
    await using shared = await openHere()
    const { id } = await fill(shared)
    const { permissions, tools } = shared.holdfast.serverParts
    const { id: rule } = orThrow(await permissions.add({ tool: 'shell', verdict: 'deny', pattern: 'zebra-deploy **' }))
    for (const role of ['driver', 'admin'] as const)
      for (const path of [`/v1/tools?workdir=${home}`, `/v1/sessions/${id}/tools`]) {
        const { status, json, text } = await shared.acme.as(role)(path)
        expect([path, status, text.includes('zebra-deploy')]).toEqual([path, 200, false])
        expect(json.tools).toContainEqual(expect.objectContaining({ name: 'shell', verdict: 'ask', rules: [] }))
      }
    const ofServer = orThrow(await tools.list({ session: id })).tools.find(({ name }) => name === 'shell')
    expect(ofServer?.rules).toEqual(['deny shell zebra-deploy **'])
    orThrow(await permissions.remove(rule))
  })

  it('get only their own news', async () => {
    await using shared = await openHere()
    const { id } = await fill(shared)
    const authorization = `Bearer ${shared.other.tokens.get('viewer')?.secret}`
    const answer = await fetch(`${shared.other.url}/v1/events`, { headers: { authorization } })
    const rename = { method: 'POST', body: { type: 'rename', title: 'Changed' } }
    const own = (await shared.other.as('driver')('/v1/sessions', { method: 'POST', body: { workdir: home } })).json
    const heard = new Set<string>()
    await shared.acme.as('driver')(`/v1/sessions/${id}/commands`, rename)
    await shared.other.as('driver')(`/v1/sessions/${own.session.id}/commands`, rename)
    for await (const news of decodeNews(answer.body ?? new ReadableStream())) {
      heard.add(JSON.stringify(news))
      if (news.type === 'session.changed' && news.session.title === 'Changed') break
    }
    expect([...heard].filter((news) => news.includes(id))).toEqual([])
    expect([...heard].some((news) => news.includes(own.session.id))).toBe(true)
  })

  it('use the same key, and name no file that only another stored', async () => {
    await using shared = await openHere()
    const { id, file } = await fill(shared)
    const driver = shared.other.as('driver')
    const start = (more: object) => driver('/v1/sessions', { method: 'POST', body: { workdir: home, ...more } })
    const started = await start({ key: 'plans' })
    expect([started.status, started.json.session.id === id]).toEqual([201, false])
    expect((await driver('/v1/find?key=plans')).json.session.id).toBe(started.json.session.id)
    const messages = [{ role: 'user', content: [file] }]
    expect((await start({ messages })).json.error.code).toBe('blob_not_found')
    const prompt = { method: 'POST', body: { type: 'sendPrompt', content: [file] } }
    const path = `/v1/sessions/${started.json.session.id}/commands`
    expect((await driver(path, prompt)).json.error.code).toBe('blob_not_found')
    await driver('/v1/blobs?name=mine.txt', { method: 'POST', bytes: Buffer.from('zebra') })
    expect((await driver(path, prompt)).status).toBe(202)
    expect((await start({ messages })).status).toBe(201)
  })

  it('manage only their own tokens, and keep those of others when they delete', async () => {
    await using shared = await openHere()
    const { shared: link } = await fill(shared)
    const admin = shared.other.as('admin')
    const create = (more: object) =>
      admin('/v1/tokens', { method: 'POST', body: { name: 'x', role: 'viewer', ...more } })
    expect((await create({})).json.tenant).toBe('other')
    expect((await create({ tenant: 'acme' })).json.error.code).toBe('not_driver')
    const names = (await admin('/v1/tokens')).json.tokens.map(({ tenant }: { tenant: string }) => tenant)
    expect(new Set(names)).toEqual(new Set(['other']))
    const revoked = await admin(`/v1/tokens/${shared.acme.idOf('admin')}`, { method: 'DELETE' })
    expect(revoked.json.error.code).toBe('not_found')
    const own = await admin('/v1/sessions', { method: 'POST', body: { workdir: home, title: 'Gone' } })
    const purged = await admin(`/v1/sessions/${own.json.session.id}/purge`, { method: 'POST', body: { force: true } })
    expect(purged.json.count).toBe(1)
    const kept = (await shared.holdfast.liveTokens.list()) as { readonly value: readonly { readonly id: string }[] } // it is ok
    expect(kept.value.map(({ id }) => id)).toContain(link)
    expect((await admin('/v1/access')).json).toMatchObject({ role: 'admin', tenant: 'other' })
  })
})

it('are refused by a store that keeps none apart, and by a server without them', async () => {
  const environment = { HOLDFAST_HOME: await mkdtemp(join(home, 'sqlite-')) }
  const sqlite = orThrow(await open({ environment, model: 'demo/agent' }))
  expect(sqlite.tenants).toBeNull()
  expect(await sqlite.liveTokens.create({ name: 'a', role: 'viewer', tenant: 'acme' })).toMatchObject({
    ok: false,
    fault: { code: 'bad_request' },
  })
  await sqlite.close()

  const memory = orThrow(await open({ environment, store: 'memory:', model: 'demo/agent' }))
  const { secret } = orThrow(await memory.liveTokens.create({ name: 'a', role: 'admin', tenant: 'acme' }))
  const server = orThrow(
    await openServer({
      host: '127.0.0.1',
      port: 0,
      version: '1',
      now: Date.now,
      pageDir: null,
      onProblem: () => undefined,
      sessions: memory.handles,
      tokens: [],
      storedTokens: memory.liveTokens,
    }),
  )
  const answer = await fetch(`${server.url}/v1/sessions`, { headers: { authorization: `Bearer ${secret}` } })
  expect(answer.status).toBe(401)
  await server.close()
  await memory.close()
})
