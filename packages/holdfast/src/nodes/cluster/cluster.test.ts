import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Frame, HoldfastError, orThrow, type SessionNews } from '@holdfast/protocol'
import { type PostgresServer, startPostgres } from '@holdfast/testkit/postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ServedHoldfast } from '../../holdfast.ts'
import { type OpenOptions, open } from '../../open.ts'
import { connect } from '../../store/postgres/connect/connect.ts'
import { parsePostgresUrl } from '../../store/postgres/connect/postgres-url.ts'
import { createPermissionFile, permissionPath } from '../../system/config/permission-file.ts'
import { findHome } from '../../system/home.ts'
import { withBearer } from '../carried-bearer.ts'

let server: PostgresServer
let home = ''
let schema = 0
let opened: ServedHoldfast[] = []

beforeAll(async () => {
  server = await startPostgres()
  home = await realpath(await mkdtemp(join(tmpdir(), 'hf-cluster-')))
})
afterAll(async () => {
  await server.close()
  await rm(home, { recursive: true, force: true })
})
beforeEach(() => {
  schema += 1
})
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()))
  opened = []
})

async function openNode(node: OpenOptions['node'] = {}, nodeHome = home): Promise<ServedHoldfast> {
  const environment = { HOLDFAST_HOME: nodeHome, DEMO_PACE: '5', PATH: process.env['PATH'] }
  const store = `${server.url(`cluster_${schema}`)}&durability=unchecked`
  const holdfast = orThrow(await open({ environment, store, model: 'demo/agent', node, sandbox: 'off' }))
  opened.push(holdfast)
  return holdfast
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof HoldfastError ? error.code : String(error)),
  )

/** Resolves with the first record of an event after a seq. */
async function until(holdfast: ServedHoldfast, id: string, type: string, after = 0) {
  for await (const frame of orThrow(await holdfast.handles.open(id)).subscribe({ after }))
    if (frame.type === 'record' && frame.record.event.type === type) return frame.record
  throw new Error('the stream ended first')
}

const isEnd = (frame: Frame) => frame.type === 'record' && frame.record.event.type === 'turn.ended'

describe('nodes of a cluster', () => {
  it('forward commands, reads and streams to the owner of a session', async () => {
    const [owner, other] = [await openNode(), await openNode()]
    const { id } = await owner.startSession({ workdir: home })
    const session = await other.getSession(id)
    const frames: Frame[] = []
    const handle = orThrow(await other.handles.open(id))
    const following = (async () => {
      for await (const frame of handle.subscribe({ client: 'ben', mayDrive: true })) {
        frames.push(frame)
        if (isEnd(frame)) break
      }
    })()
    await session.sendPrompt('count to 5')
    await following
    expect(frames.some(({ type }) => type === 'delta')).toBe(true)
    expect(other.listSessions()).toEqual([])
    expect(owner.listSessions()).toHaveLength(1)
  })

  it('hand a session over: the next command runs it elsewhere', async () => {
    const [first, second] = [await openNode(), await openNode()]
    const { id } = await first.startSession({ workdir: home })
    await (await first.getSession(id)).rename('First')
    await first.drain(AbortSignal.timeout(5000))
    expect(first.listSessions()).toEqual([])
    await (await first.getSession(id)).rename('Forwarded')
    expect(first.listSessions()).toEqual([])
    expect(second.listSessions()).toHaveLength(1)
    expect(await first.ready()).toMatchObject({ ok: false, fault: { code: 'not_ready' } })
  })

  it('tell each other of changes', async () => {
    const [here, there] = [await openNode(), await openNode()]
    const leaving = new AbortController()
    const heard: SessionNews[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const following = (async () => {
      for await (const news of here.subscribe({ signal: leaving.signal })) {
        heard.push(news)
        if (news.type === 'session.changed' && news.session.title === 'Told') resolve()
      }
    })()
    const { id } = await there.startSession({ workdir: home })
    await (await there.getSession(id)).rename('Told')
    await promise
    leaving.abort()
    await following
  })

  it('run only sessions whose folder they serve, and say which nodes do', async () => {
    const [mine, shared] = [
      await openNode({ serves: [`mine=${home}`] }),
      await openNode({ serves: [`shared=${home}`] }),
    ]
    const { id } = await mine.startSession({ workdir: home })
    await (await mine.getSession(id)).rename('Mine')
    await mine.close()
    expect(await codeOf((await shared.getSession(id)).rename('No'))).toBe('workdir_elsewhere')
    const also = await openNode({ serves: [`mine=${home}`] })
    await (await shared.getSession(id)).rename('Forwarded')
    expect(also.listSessions()).toHaveLength(1)
  })

  it('share permission rules: what is always allowed at one node is allowed at the next', async () => {
    const homes = [join(home, 'one'), join(home, 'two')] as const
    const [first, second] = [await openNode({}, homes[0]), await openNode({}, homes[1])]
    const { id } = await first.startSession({ workdir: home, approvals: 'all' })
    const session = await first.getSession(id)
    await session.sendPrompt('run echo here')
    await until(first, id, 'approval.asked')
    await session.respondToApproval('approve_always')
    await until(first, id, 'turn.ended')
    const [rule] = await second.permissions()
    expect(rule).toMatchObject({ tool: 'shell', pattern: 'echo here', exact: true, workspace: home })
    await first.close()
    const taken = await second.getSession(id)
    const { seq } = await taken.sendPrompt('run echo here')
    const approved = await until(second, id, 'call.approved', seq)
    expect(approved).toMatchObject({ event: { by: { rule: 'your rule `echo here`' } } })

    const file = permissionPath(findHome({ HOLDFAST_HOME: homes[1] }).configDir)
    const own = orThrow(await createPermissionFile(file).add({ tool: 'write_file', verdict: 'deny' }))
    expect((await second.permissions()).map(({ tool }) => tool)).toEqual(['shell', 'write_file'])
    for (const one of [own.id, rule?.id ?? '']) await second.removePermission(one)
    expect(await second.permissions()).toEqual([])
    expect(await codeOf(second.removePermission(own.id))).toBe('not_found')
  })

  it('check the token of a caller again', async () => {
    const [owner, other] = [await openNode(), await openNode()]
    const { id } = await owner.startSession({ workdir: home })
    const { id: second } = await owner.startSession({ workdir: home })
    const { secret } = orThrow(await other.liveTokens.create({ name: 'anna', role: 'driver', session: id }))
    const tenants = await Promise.all(['acme', 'umbrella'].map((tenant) => tenantOf(owner, other, tenant)))
    const rename = async (session: string, bearer: string) => {
      const named = await other.getSession(session)
      return codeOf(withBearer(bearer, () => named.rename('By a token')))
    }
    expect(await rename(id, `Bearer ${secret}`)).toBe('ok')
    expect(await rename(second, `Bearer ${secret}`)).toBe('unauthorized')
    expect(await rename(id, 'Bearer unknown')).toBe('unauthorized')

    for (const { session } of tenants)
      for (const one of tenants)
        expect(await rename(session, one.bearer)).toBe(one.session === session ? 'ok' : 'unauthorized')
    expect(await rename(id, tenants[0]?.bearer ?? '')).toBe('unauthorized')
    const [address = ''] = (await nodeRows()).map(({ address }) => address)
    expect((await fetch(`${address}/call`, { method: 'POST', body: '{}' })).status).toBe(401)
  })
})

/** Starts a session of a tenant at its owner, and creates a token of the tenant. */
async function tenantOf(owner: ServedHoldfast, other: ServedHoldfast, tenant: string) {
  const sessions = owner.tenants?.sessions(tenant)
  if (!sessions) throw new Error('a PostgreSQL store keeps tenants apart')
  const session = orThrow(await sessions.start({ workdir: home })).id
  const { secret } = orThrow(await other.liveTokens.create({ name: tenant, role: 'driver', tenant }))
  return { session, bearer: `Bearer ${secret}` }
}

const nodeRows = async () => {
  const location = orThrow(parsePostgresUrl(`${server.url(`cluster_${schema}`)}&durability=unchecked`))
  const database = await connect(location)
  const rows = await database.read('select address from @node')
  await database.close()
  return rows.map(({ address }) => ({ address: String(address) }))
}
