import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orThrow, type SessionId } from '@holdfast/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ServedHoldfast } from '../../holdfast.ts'
import { open } from '../../open.ts'
import { createSecret, hashToken, openServer } from '../../server/index.ts'
import type { PostgresLocation } from '../../store/postgres/connect/postgres-url.ts'
import { newLocation, useServer, withDatabase } from '../../store/postgres/testing/test-schema.ts'

const server = useServer()
let home = ''
let location: PostgresLocation
let opened: { close(): Promise<void> }[] = []
beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'hf-forward-')))
})
afterAll(() => rm(home, { recursive: true, force: true }))
beforeEach(() => {
  location = newLocation(server())
})
afterEach(async () => {
  for (const one of opened.reverse()) await one.close()
  opened = []
})

async function openNode(): Promise<ServedHoldfast> {
  const environment = { HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] }
  const node = orThrow(await open({ environment, store: location.secretUrl, model: 'demo/agent' }))
  opened.push(node)
  return node
}

const ownerOf = (id: SessionId) =>
  withDatabase(location, async ({ read }) =>
    String((await read('select owner from @session where id = $1', [id]))[0]?.['owner']),
  )

/** Collects the statuses of answers between nodes, which are in this process. */
function watchAnswers() {
  const statuses: number[] = []
  const note = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse } // of the channel
    if (request.url === '/call') statuses.push(response.statusCode)
  }
  subscribe('http.server.response.finish', note)
  return { statuses, [Symbol.dispose]: () => unsubscribe('http.server.response.finish', note) }
}

describe('a request for a session', () => {
  it('of a node that owns it no more is answered with 421, and goes to the owner that is looked up anew', async () => {
    const [former, owner, asked] = [await openNode(), await openNode(), await openNode()]
    const first = await former.startSession({ workdir: home, title: 'First' })
    const formerId = await ownerOf(first.id)
    const { id } = await owner.startSession({ workdir: home, title: 'Second' })
    // The next look-up answers as if the session had moved just after it.
    await withDatabase(location, async ({ write }) => {
      await write('alter function @place(text, text) rename to place_now')
      await write('create sequence @look_up')
      await write(`create function @place(its_session text, here text) returns text language sql volatile as $body$
        select case when nextval('@look_up') = 1 then '${formerId}' else @place_now(its_session, here) end $body$`)
    })
    using answers = watchAnswers()
    const session = await asked.getSession(id)
    await session.rename('Renamed')
    await expect.poll(() => answers.statuses).toEqual([421, 200])
    expect((await owner.getSession(id)).id).toBe(id)
    expect(owner.listSessions().map(({ metadata }) => metadata.title)).toEqual(['Renamed'])
    expect([former.listSessions().length, asked.listSessions().length]).toEqual([1, 0])
  })

  it('at a node that lives and cannot be reached is answered with 503 and Retry-After', {
    timeout: 30_000,
  }, async () => {
    const owner = await openNode()
    const { id } = await owner.startSession({ workdir: home, title: 'Away' })
    await withDatabase(location, ({ write }) => write(`update @node set address = 'http://127.0.0.1:1'`))
    const asked = await openNode()
    const secret = createSecret()
    const http = orThrow(
      await openServer({
        host: '127.0.0.1',
        port: 0,
        version: '1',
        now: Date.now,
        pageDir: null,
        onProblem: () => undefined,
        sessions: asked.handles,
        tokens: [{ hash: hashToken(secret), role: 'admin' }],
      }),
    )
    opened.push(http)
    const answer = await fetch(`${http.url}/v1/sessions/${id}/commands`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'rename', title: 'Renamed' }),
    })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await answer.json()).toMatchObject({ error: { code: 'unreachable', details: { retryAfterSeconds: 1 } } })
    expect((await owner.getSession(id)).id).toBe(id)
    expect(owner.listSessions().map(({ metadata }) => metadata.title)).toEqual(['Away'])
  })
})

describe('a full disk of the database', () => {
  it('refuses commands cleanly, shows it in the session, and work goes on by itself', { timeout: 30_000 }, async () => {
    const node = await openNode()
    const session = await node.startSession({ workdir: home, title: 'Full' })
    const handle = orThrow(await node.handles.open(session.id))
    const headOf = () =>
      withDatabase(
        location,
        async ({ read }) => (await read('select head, (select count(*) from @record) from @session'))[0],
      )
    const before = await headOf()
    // What PostgreSQL answers when it cannot extend a table.
    await withDatabase(location, async ({ write }) => {
      await write(`create function @full() returns trigger language plpgsql as $body$
        begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $body$`)
      for (const table of ['record', 'probe'])
        await write(`create trigger disk_full before insert on @${table} execute function @full()`)
    })
    expect(await handle.submit({ type: 'rename', title: 'Lost' })).toMatchObject({
      ok: false,
      fault: { code: 'storage_error', details: { reason: 'disk_full', isCommandRefused: true, sqlState: '53100' } },
    })
    const shown = orThrow(await handle.state(['here', 'meta']))
    expect([shown.here?.storageError?.reason, shown.meta.title]).toEqual(['disk_full', 'Full'])
    expect(await headOf()).toEqual(before)
    expect(await node.ready()).toMatchObject({ ok: false })
    await withDatabase(location, ({ write }) => write('drop function @full cascade'))
    const works = async () => orThrow(await handle.state(['here'])).here?.storageError ?? null
    await expect.poll(works, { timeout: 20_000 }).toBeNull()
    expect(await handle.submit({ type: 'rename', title: 'Found' })).toMatchObject({ ok: true })
  })
})

describe('permission rules in a database that cannot be read', () => {
  it('hold up a call until they can be read, and no person is asked', { timeout: 30_000 }, async () => {
    const node = await openNode()
    const { id } = await node.startSession({ workdir: home, approvals: 'none' })
    const handle = orThrow(await node.handles.open(id))
    await withDatabase(location, ({ write }) => write('alter table @permission rename to permission_away'))
    const { seq: after } = orThrow(await handle.submit({ type: 'sendPrompt', content: 'run echo here' }))
    const error = async () => orThrow(await handle.state(['here'])).here?.storageError?.reason ?? null
    await expect.poll(error, { timeout: 20_000 }).toBe('lacks_table')
    await withDatabase(location, ({ write }) => write('alter table @permission_away rename to permission'))
    const types: string[] = []
    for await (const frame of handle.subscribe({ after })) {
      if (frame.type !== 'record') continue
      types.push(frame.record.event.type)
      if (frame.record.event.type === 'turn.ended') break
    }
    expect(types).toContain('call.settled')
    expect(types).not.toContain('approval.asked')
    expect(await error()).toBeNull()
  })
})
