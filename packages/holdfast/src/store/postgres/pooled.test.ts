import { orThrow } from '@holdfast/protocol'
import { appendTo, mustAppend, mustCreate, newSession, readAll, sessionId } from '@holdfast/testkit/contracts'
import { hasPgBouncer, openPgBouncer, openPooler } from '@holdfast/testkit/postgres'
import { describe, expect, it } from 'vitest'
import { connect } from './connect/connect.ts'
import { type PostgresLocation, parsePostgresUrl } from './connect/postgres-url.ts'
import { openPostgresStore } from './postgres-store.ts'
import { newLocation, useServer, withDatabase } from './testing/test-schema.ts'

const server = useServer()

/** Follows changes until the second session has changed. */
async function untilHeard(location: PostgresLocation, act: () => Promise<void>): Promise<void> {
  const { store, cluster } = orThrow(await openPostgresStore(location))
  await mustCreate(store, newSession(1), newSession(2))
  const leaving = new AbortController()
  let isHeard = false
  const following = (async () => {
    for await (const ids of cluster.changes(leaving.signal)) isHeard ||= ids.includes(sessionId(2))
  })()
  await act()
  // Again and again: the first one may come before it follows.
  let head = 1
  const change = () => mustAppend(store, appendTo(2, head++)).then(() => isHeard)
  await expect.poll(change, { interval: 200, timeout: 30_000 }).toBe(true)
  leaving.abort()
  await following
  await store.close()
}

/** Returns how many connections of the server ran the transactions of one client. */
async function connectionsOf(location: PostgresLocation): Promise<number> {
  const { read, close } = await connect(location, { max: 1 })
  const found = new Set<unknown>()
  for (let count = 0; count < 20; count++) {
    const [row] = await read('select pg_backend_pid() as process')
    found.add(row?.['process'])
  }
  await close()
  return found.size
}

const poolers = [
  { name: 'a pooler', openOne: openPooler, isHere: true },
  { name: 'PgBouncer, where it is installed', openOne: openPgBouncer, isHere: hasPgBouncer() },
]

describe.each(poolers.filter(({ isHere }) => isHere))('$name', ({ openOne }) => {
  it('runs each transaction of two nodes on another connection, and they work', async () => {
    const pooler = await openOne(server())
    const location = newLocation(pooler)
    const [one, other] = (await Promise.all([openPostgresStore(location), openPostgresStore(location)])).map(orThrow)
    if (!one || !other) throw new Error('two stores were opened')
    const numbers = Array.from({ length: 12 }, (_, index) => index + 1)
    await mustCreate(one.store, ...numbers.map((number) => newSession(number)))
    const node = { address: 'http://127.0.0.1:1', startedAt: '2026-01-01T00:00:00.000Z', key: 'key', serves: [] }
    await other.cluster.join({ ...node, id: 'node-b' })
    const leaving = new AbortController()
    const { promise: heard, resolve } = Promise.withResolvers<void>()
    const following = (async () => {
      // A pooler may swallow notices: then the rows are compared.
      for await (const ids of other.cluster.changes(leaving.signal)) if (ids.includes(sessionId(3))) resolve()
    })()
    for (let head = 1; head <= 20; head++) {
      await Promise.all(numbers.map((number) => mustAppend(one.store, appendTo(number, head))))
      expect(await other.cluster.renew('node-b')).toBe(true)
    }
    expect(orThrow(await other.store.claim(sessionId(1), 'node-b', 'node-a')).epoch).toBe(2)
    expect(await one.store.append(appendTo(1, 21))).toMatchObject({ ok: false, fault: { code: 'fenced' } })
    for (const number of numbers) expect(await readAll(other.store, number)).toHaveLength(21)
    expect(await connectionsOf(location)).toBeGreaterThan(1)
    await mustAppend(one.store, appendTo(3, 21))
    await heard
    leaving.abort()
    await Promise.all([following, one.store.close(), other.store.close()])
    await pooler.close()
  })

  it('is not listened through: changes are found in the rows', async () => {
    const pooler = await openOne(server())
    const location = newLocation(pooler)
    await untilHeard(location, async () => undefined)
    await withDatabase(location, async ({ read }) => {
      const ask = () => read('select pg_listening_channels() as channel from pg_sleep(0.05)') // long enough to use all connections
      expect((await Promise.all([ask(), ask(), ask(), ask(), ask(), ask()])).flat()).toEqual([])
    })
    await pooler.close()
  })

  it('is passed by the connection that listens, if a node is told where the database is', async () => {
    const pooler = await openOne(server())
    const { secretUrl, schema } = newLocation(pooler)
    const past = `${secretUrl}&listen=${encodeURIComponent(server().url(schema))}`
    const direct = newLocation(server())
    const listeners = () =>
      withDatabase(direct, ({ read }) =>
        read('select pid from pg_stat_activity where query = $1', [`listen "holdfast_${schema}"`]),
      )
    await untilHeard(orThrow(parsePostgresUrl(past)), async () => {
      await expect.poll(listeners, { timeout: 20_000 }).toHaveLength(1)
    })
    await untilHeard(orThrow(parsePostgresUrl(`${newLocation(server()).secretUrl}&listen=off`)), async () => {
      expect(await listeners()).toEqual([])
    })
    await pooler.close()
  })
})
