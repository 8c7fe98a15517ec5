import { orThrow } from '@holdfast/protocol'
import { aSession } from '@holdfast/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import { createMemoryBlobs, createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { createLocalSessions } from './local-sessions.ts'

let serving: string[]
let nodes: Map<string, SessionRegistry>
let here: SessionRegistry
let there: SessionRegistry

beforeEach(async () => {
  serving = ['there']
  nodes = new Map()
  const shared = {
    store: createMemoryStore(),
    blobs: createMemoryBlobs(),
    others: nodes,
    living: ['here', 'there'],
    takesOver: true,
  }
  const cluster = {
    place: async () => ((await shared.store.entry(aSession))?.owner === 'there' ? 'there' : null),
    serving: async () => serving.map((id) => ({ id, address: `http://${id}`, startedAt: '' })),
    async *changes() {},
  }
  here = (await openMemoryRuntime({ ...shared, cluster, node: 'here', folders: ['/mine'] })).registry
  there = (await openMemoryRuntime({ ...shared, node: 'there', folders: ['/shared'] })).registry
  for (const registry of [here, there]) {
    await registry.deps.store.registerNode(registry.deps.node)
    nodes.set(registry.deps.node.id, registry)
  }
})

const start = (workdir: string, more = {}) => createLocalSessions(here).start({ workdir, ...more })

describe('a session whose folder is missing here', () => {
  it('is started at a node that serves the folder, and used from here', async () => {
    const session = orThrow(await start('/shared', { title: 'There' }))
    expect([here.all().length, there.all().map(({ id }) => id)]).toEqual([0, [session.id]])
    expect(orThrow(await session.state(['meta'])).meta).toMatchObject({ workspace: '/shared', title: 'There' })
  })

  it('belongs to the tenant that starts it', async () => {
    const session = orThrow(await createLocalSessions(here, 'acme').start({ workdir: '/shared' }))
    expect((await here.stores.entry(session.id))?.tenant).toBe('acme')
  })

  it('is refused as that node refuses it', async () => {
    expect(await start('/shared', { tools: ['none'] })).toMatchObject({
      ok: false,
      fault: { code: 'bad_request' },
    })
    expect(await start('/nowhere')).toMatchObject({ ok: false, fault: { code: 'bad_workdir' } })
  })

  it('is refused with the nodes that serve the folder if none answers, or if it is never written to disk', async () => {
    const refusal = { ok: false, fault: { code: 'workdir_elsewhere', details: { nodes: ['http://there'] } } }
    expect(await start('/shared', { persist: false })).toMatchObject(refusal)
    nodes.delete('there')
    expect(await start('/shared')).toMatchObject(refusal)
  })

  it('is refused as before if no node serves the folder', async () => {
    serving = []
    expect(await start('/shared')).toMatchObject({ ok: false, fault: { code: 'bad_workdir' } })
  })
})
