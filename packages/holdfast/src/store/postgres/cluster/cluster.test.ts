import { orThrow, type SessionId } from '@holdfast/protocol'
import { appendTo, codeOf, mustAppend, mustCreate, newSession, sessionId } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { PostgresLocation } from '../connect/postgres-url.ts'
import { openPostgresStore, type PostgresStore } from '../postgres-store.ts'
import { newLocation, useServer, withDatabase } from '../testing/test-schema.ts'

const server = useServer()
let location: PostgresLocation
let one: PostgresStore

beforeEach(async () => {
  location = { ...newLocation(server()), termMs: 60_000 }
  one = orThrow(await openPostgresStore(location))
})
afterEach(() => one.store.close())

const join = (id: string, label = 'here') =>
  one.cluster.join({
    id,
    address: `http://127.0.0.1/${id}`,
    startedAt: '2026-01-01T00:00:00.000Z',
    key: `key of ${id}`,
    serves: [{ label, path: '/' }],
  })
const endTerm = (id: string) =>
  withDatabase(location, ({ write }) =>
    write(`update @node set term_ends = clock_timestamp() - interval '1 second' where id = $1`, [id]),
  )

describe('terms', () => {
  it('protect the sessions of a node until they end, and cannot be renewed afterwards', async () => {
    await join('node-a')
    await join('node-b')
    await mustCreate(one.store, newSession(1))
    expect(codeOf(await one.store.claim(sessionId(1), 'node-b', 'node-a'))).toBe('session_locked')
    expect(await one.cluster.place(sessionId(1), 'node-b')).toBe('node-a')
    expect(await one.cluster.renew('node-a')).toBe(true)
    await endTerm('node-a')
    expect((await one.store.nodes()).map(({ id, isLive }) => [id, isLive])).toEqual([
      ['node-a', false],
      ['node-b', true],
    ])
    expect(await one.cluster.renew('node-a')).toBe(false)
    expect(await one.cluster.place(sessionId(1), 'node-b')).toBeNull()
    expect(codeOf(await one.store.claim(sessionId(1), 'node-b', 'node-a'))).toBe('ok')
    expect(codeOf(await one.store.append(appendTo(1, 1)))).toBe('fenced')
  })

  it('keep a node that joined again from being removed as dead', async () => {
    await join('node-a')
    await one.store.removeNode('node-a', 'ended')
    expect(await one.cluster.renew('node-a')).toBe(true)
    await endTerm('node-a')
    await one.store.removeNode('node-a', 'ended')
    expect(await one.store.nodes()).toEqual([])
  })

  it('send sessions to nodes with the same label, and to none that drains', async () => {
    await join('node-a', 'shared')
    await join('node-b', 'other')
    await join('node-c', 'shared')
    await mustCreate(one.store, newSession(1))
    await endTerm('node-a')
    expect(await one.cluster.place(sessionId(1), 'node-b')).toBe('node-c')
    expect(await one.store.claim(sessionId(1), 'node-b', 'node-a')).toMatchObject({
      fault: { code: 'workdir_elsewhere', details: { label: 'shared', nodes: ['http://127.0.0.1/node-c'] } },
    })
    await one.cluster.drain('node-c')
    expect(await one.store.claim(sessionId(1), 'node-c', 'node-a')).toMatchObject({
      fault: {
        code: 'workdir_elsewhere',
        details: { reason: 'draining', nodes: [] },
        message: expect.stringContaining('This node is about to stop'),
      },
    })
  })

  it('find the nodes that were told to serve a folder', async () => {
    const joinWith = (id: string, ...paths: readonly string[]) =>
      one.cluster.join({
        id,
        address: `http://127.0.0.1/${id}`,
        startedAt: '2026-01-01T00:00:00.000Z',
        key: id,
        serves: [...paths.map((path) => ({ label: 'shared', path })), { label: id, path: '/' }],
      })
    await joinWith('node-a', '/srv/work')
    await joinWith('node-b', '/other', '/srv')
    await joinWith('node-c')
    const serving = async (path: string) => (await one.cluster.serving(path, 'node-c')).map(({ id }) => id)
    expect(await serving('/srv/work/deep')).toEqual(['node-a', 'node-b'])
    expect([await serving('/srv/workshop'), await serving('/home')]).toEqual([['node-b'], []])
    await one.cluster.drain('node-a')
    await endTerm('node-b')
    expect(await serving('/srv/work')).toEqual([])
  })

  it('let a draining node load what it owns, such as the subagent of a turn that it finishes', async () => {
    await join('node-a')
    await join('node-b')
    await one.cluster.drain('node-a')
    await mustCreate(one.store, newSession(1))
    expect(await one.cluster.place(sessionId(1), 'node-a')).toBeNull()
    expect(codeOf(await one.store.claim(sessionId(1), 'node-a', null))).toBe('ok')
  })

  it('send what was started for a session to its live owner', async () => {
    for (const id of ['node-a', 'node-b', 'node-c']) await join(id)
    const startedFor = (above: number, number: number) => {
      const { meta, ...entry } = newSession(number).entry
      return newSession(number, { owner: 'gone', entry: { ...entry, meta: { ...meta, parent: sessionId(above) } } })
    }
    await mustCreate(one.store, { ...newSession(1), owner: 'node-b' }, startedFor(1, 2), startedFor(2, 3))
    expect(await one.cluster.place(sessionId(2), 'node-c')).toBe('node-b')
    expect(await one.cluster.place(sessionId(3), 'node-c')).toBe('node-b')
    expect(await one.cluster.place(sessionId(3), 'node-b')).toBeNull()
    await one.cluster.drain('node-b')
    expect(await one.cluster.place(sessionId(3), 'node-c')).toBeNull()
    await endTerm('node-b')
    expect(await one.cluster.place(sessionId(3), 'node-c')).toBeNull()
  })
})

/** Follows changes until `enough` sessions came. */
async function untilHeard(ids: readonly SessionId[], act: (heard: ReadonlySet<SessionId>) => Promise<void>) {
  const leaving = new AbortController()
  const heard = new Set<SessionId>()
  const { promise, resolve } = Promise.withResolvers<void>()
  const following = (async () => {
    for await (const sessions of one.cluster.changes(leaving.signal)) {
      for (const id of sessions) heard.add(id)
      if (ids.every((id) => heard.has(id))) resolve()
    }
  })()
  await act(heard)
  await promise
  leaving.abort()
  await following
}

const listeners = (sql: string) =>
  withDatabase(location, ({ read }) => read(`${sql} from pg_stat_activity where query like 'listen%'`))

describe('changes', () => {
  it('of another node are heard, also while no connection listens', async () => {
    const other = orThrow(await openPostgresStore(location)).store
    await mustCreate(other, newSession(1), newSession(2))
    await untilHeard([sessionId(1), sessionId(2)], async () => {
      await expect.poll(() => listeners('select pid'), { timeout: 20_000 }).toHaveLength(1)
      await mustAppend(other, appendTo(1, 1))
      await listeners('select pg_terminate_backend(pid)')
      await mustAppend(other, appendTo(2, 1))
    })
    await other.close()
  })

  it('are read from the rows when a notice names none', async () => {
    await mustCreate(one.store, newSession(1))
    // Only the notice can wake it: no time passes for the regular comparison.
    vi.useFakeTimers({ toFake: ['setInterval'] })
    try {
      await untilHeard([sessionId(1)], async () => {
        await expect.poll(() => listeners('select pid'), { timeout: 20_000 }).toHaveLength(1)
        await withDatabase(location, async ({ write }) => {
          await write('update @session set epoch = epoch + 1')
          await write('select pg_notify($1, $2)', [`holdfast_${location.schema}`, ''])
        })
      })
    } finally {
      vi.useRealTimers()
    }
  })

  it('without a notice are found in the rows', async () => {
    await mustCreate(one.store, newSession(1))
    await untilHeard([sessionId(1)], async () => {
      await expect.poll(() => listeners('select pid'), { timeout: 20_000 }).toHaveLength(1)
      // As a node that died before it could tell.
      await withDatabase(location, ({ write }) => write('update @session set epoch = epoch + 1'))
    })
  })
})
