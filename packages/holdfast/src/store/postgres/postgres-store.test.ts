import type { Store } from '@holdfast/core/ports'
import { orThrow } from '@holdfast/protocol'
import {
  aCharge,
  appendTo,
  blobTestBytesMax,
  codeOf,
  describeBlobs,
  describePermissionRules,
  describeStore,
  describeTenants,
  entryOf,
  mustAppend,
  mustCreate,
  newSession,
  readAll,
  recordAt,
  seqsOf,
  sessionId,
  textSaid,
  textsAfter,
} from '@holdfast/testkit/contracts'
import { openSocketProxy } from '@holdfast/testkit/postgres'
import { afterEach, describe, expect, it } from 'vitest'
import type { PostgresLocation } from './connect/postgres-url.ts'
import { openPostgresStore } from './postgres-store.ts'
import { newLocation, openEmpty, useServer, withDatabase } from './testing/test-schema.ts'

const server = useServer()

const openAt = async (location: PostgresLocation) =>
  orThrow(await openPostgresStore(location, { blobBytesMax: blobTestBytesMax }))

describeStore('postgres', async () => (await openEmpty(server())).store)
describePermissionRules('postgres', async () => (await openEmpty(server())).store)
describeTenants('postgres', async () => (await openEmpty(server())).store)

let blobStore: Store | null = null
afterEach(async () => {
  await blobStore?.close()
  blobStore = null
})
describeBlobs('postgres', async () => {
  await blobStore?.close()
  const { store, blobs } = await openEmpty(server(), { blobBytesMax: blobTestBytesMax })
  blobStore = store
  return blobs
})

/** Opens the same store twice, as two nodes do. */
async function openTwice(): Promise<
  AsyncDisposable & { readonly location: PostgresLocation; readonly nodes: readonly [Store, Store] }
> {
  const location = newLocation(server())
  const nodes = [(await openAt(location)).store, (await openAt(location)).store] as const
  return {
    location,
    nodes,
    [Symbol.asyncDispose]: async () => void (await Promise.all(nodes.map((node) => node.close()))),
  }
}

describe('postgres store', () => {
  it('has all data after it is closed and opened again', async () => {
    const location = newLocation(server())
    const first = (await openAt(location)).store
    await mustCreate(first, newSession(1))
    await mustAppend(first, appendTo(1, 1))
    const before = [await readAll(first, 1), await first.entry(sessionId(1))]
    await first.close()
    const again = (await openAt(location)).store
    expect([await readAll(again, 1), await again.entry(sessionId(1))]).toEqual(before)
    await again.close()
  })

  it('lets one of two nodes append, and fences the former owner', async () => {
    await using two = await openTwice()
    const [one, other] = two.nodes
    await mustCreate(one, newSession(1))
    const races = await Promise.all([one, other, one, other].map((node) => node.append(appendTo(1, 1))))
    expect(races.map(codeOf).toSorted()).toEqual(['log_moved', 'log_moved', 'log_moved', 'ok'])
    const { epoch } = orThrow(await other.claim(sessionId(1), 'node-b', 'node-a'))
    expect(codeOf(await one.append(appendTo(1, 2)))).toBe('fenced')
    await mustAppend(other, appendTo(1, 2, { epoch }))
    expect(seqsOf(await readAll(one, 1))).toEqual([1, 2, 3])
  })

  it('never lets groups of two nodes wait for each other, whatever the order of their sessions', async () => {
    await using two = await openTwice()
    const [one, other] = two.nodes
    const numbers = Array.from({ length: 20 }, (_, index) => index + 1)
    await mustCreate(one, ...numbers.map((number) => newSession(number)))
    const charge = (number: number) => aCharge(`payer-${number % 3}`, `/w${number % 5}`, 1)
    for (let after = 1; after <= 10; after += 1) {
      const append = (node: Store, list: readonly number[]) =>
        list.map((number) => node.append(appendTo(number, after, { charge: charge(number) })))
      const answers = await Promise.all([...append(one, numbers), ...append(other, numbers.toReversed())])
      expect(answers.map(codeOf).filter((code) => code === 'ok')).toHaveLength(numbers.length)
      expect(new Set(answers.map(codeOf))).toEqual(new Set(['ok', 'log_moved']))
    }
    const { calls } = (await one.spentOn(charge(1).day, charge(1))).all
    expect(calls).toBe(10 * numbers.length * charge(1).calls)
  })

  it('appends once when the reply to a commit is lost', async () => {
    const proxy = await openSocketProxy(server())
    const { store } = await openAt(newLocation(proxy))
    await mustCreate(store, newSession(1), newSession(2))
    const charge = aCharge('anna', '/one', 1)
    const cut = proxy.loseReplyTo('append')
    const batch = appendTo(1, 1, { records: textsAfter(1, 'a', 'b'), charge })
    const answers = await Promise.all([store.append(batch), store.append(appendTo(2, 7))])
    await cut
    expect(answers.map(codeOf)).toEqual(['ok', 'log_moved'])
    expect(seqsOf(await readAll(store, 1))).toEqual([1, 2, 3])
    expect((await store.spentOn(charge.day, charge)).all.calls).toBe(1)
    await mustAppend(store, appendTo(1, 3))
    await store.close()
    await proxy.close()
  })

  it('loses and repeats nothing while its connections are ended', async () => {
    const location = { ...newLocation(server()), termMs: 300 } // an append then waits 150 ms, so that many are refused
    const { store } = await openAt(location)
    await mustCreate(store, newSession(1))
    await withDatabase(location, async (admin) => {
      let isOver = false
      const ending = (async () => {
        while (!isOver)
          await admin.read(
            `select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'holdfast' and pid <> pg_backend_pid() and query like '%append%'`,
          )
      })()
      let head = 1
      for (let turn = 0; turn < 60; turn += 1) {
        const appended = await store.append(appendTo(1, head, { records: textsAfter(head, `turn ${turn}`) }))
        if (!appended.ok) expect(['storage_error', 'log_moved']).toContain(appended.fault.code)
        const stored = (await store.entry(sessionId(1)))?.head ?? 0
        if (appended.ok) expect(stored).toBe(head + 1)
        head = stored
      }
      isOver = true
      await ending
      const records = await readAll(store, 1)
      expect(seqsOf(records)).toEqual(Array.from({ length: head }, (_, index) => index + 1))
      const texts = records.map((record) => JSON.stringify(record))
      expect(new Set(texts).size).toBe(texts.length)
    })
    await store.close()
  })

  it.each(['before', 'after'] as const)(
    'loses and repeats nothing if the connection ends %s the n-th request',
    async (when) => {
      const proxy = await openSocketProxy(server())
      const location = newLocation(proxy)
      const { store } = await openAt(location)
      let requests = 0
      for (let isCut = true; isCut; ) {
        requests += 1
        const wasCut = proxy.cutAt(requests, when)
        const number = requests
        const created = await store.create(newSession(number, { records: textsAfter(0, 'first') }))
        let acknowledged = created.ok ? 1 : 0
        const append = async (epoch: number) => {
          const records = textsAfter(acknowledged, `text ${acknowledged}`)
          const appended = await store.append(appendTo(number, acknowledged, { epoch, records }))
          expect(codeOf(appended)).toBe('ok') // it finds out whether it was written
          acknowledged += 1
        }
        if (created.ok) {
          await append(1)
          await append(1)
          const claimed = await store.claim(sessionId(number), 'node-a', null)
          if (claimed.ok) await append(claimed.value.epoch)
          else expect(codeOf(claimed)).toBe('storage_error')
        } else expect(codeOf(created)).toBe('storage_error')
        const records = (await store.entry(sessionId(number))) === null ? [] : await readAll(store, number)
        expect(seqsOf(records)).toEqual(records.map((_, index) => index + 1))
        expect([acknowledged, acknowledged === 0 ? 1 : acknowledged]).toContain(records.length)
        isCut = wasCut()
      }
      expect(requests).toBeGreaterThan(5)
      await store.close()
      await proxy.close()
    },
  )

  it('reports damaged and missing rows as lost records, whatever type is asked for', async () => {
    const location = newLocation(server())
    const { store } = await openAt(location)
    await mustCreate(store, newSession(1, { records: textsAfter(0, 'a', 'b', 'c', 'd', 'e') }))
    await withDatabase(location, async ({ write }) => {
      await write(`update @record set body = replace(body, 'b', 'x') where seq = 2`)
      await write('delete from @record where seq in (4, 5)')
    })
    const lost = (seq: number) => ({ seq, lost: true })
    expect(await readAll(store, 1)).toMatchObject([{ seq: 1 }, lost(2), { seq: 3 }, lost(4), lost(5)])
    const range = { after: 0, limit: 9, types: ['note.added'] }
    expect(await store.read(sessionId(1), range)).toEqual([lost(2), lost(4), lost(5)])
    expect(await store.read(sessionId(1), { ...range, newestFirst: true })).toEqual([lost(5), lost(4), lost(2)])
    await store.close()
  })

  it('refuses only the text that the database cannot store', async () => {
    const { store } = await openAt(newLocation(server()))
    await mustCreate(store, newSession(1), newSession(2))
    const entry = entryOf(1, { meta: { workspace: '/a\u0000b' } })
    const answers = await Promise.all([store.append(appendTo(1, 1, { entry })), store.append(appendTo(2, 1))])
    expect(answers.map(codeOf)).toEqual(['bad_request', 'ok'])
    await expect(store.list({ limit: 5, workspace: '/a\u0000b' })).rejects.toMatchObject({ code: 'bad_request' })
    await store.close()
  })

  it('treats quotes and wildcards in names as text', async () => {
    const { store } = await openAt(newLocation(server()))
    const workspace = `/it's "100%_" \\ ; drop table session --`
    await mustCreate(store, newSession(1, { entry: entryOf(1, { meta: { workspace, title: `50%_'` } }) }))
    expect((await store.list({ limit: 5, workspace })).sessions).toHaveLength(1)
    expect((await store.list({ limit: 5, search: `%_'` })).sessions).toHaveLength(1)
    expect((await store.list({ limit: 5, search: '5_%' })).sessions).toHaveLength(0)
    expect(await store.find({ type: 'prefix', prefix: 'ses_%' })).toEqual([])
    await store.close()
  })

  it('reads a long page in several answers', async () => {
    const { store } = await openAt(newLocation(server()))
    const long = 'x'.repeat(1024 * 1024)
    await mustCreate(
      store,
      newSession(1, { records: Array.from({ length: 9 }, (_, index) => recordAt(index + 1, textSaid(long))) }),
    )
    expect(seqsOf(await readAll(store, 1))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    const down = await store.read(sessionId(1), { after: 2, upTo: 8, limit: 100, newestFirst: true })
    expect(seqsOf(down)).toEqual([8, 7, 6, 5, 4, 3])
    await store.close()
  })

  it('goes on after the server was restarted, and refuses cleanly while it is away', { timeout: 60_000 }, async () => {
    const { store } = await openAt(newLocation(server()))
    await mustCreate(store, newSession(1))
    await server().stop()
    expect(await store.append(appendTo(1, 1))).toMatchObject({
      ok: false,
      fault: { code: 'storage_error', details: { reason: 'unreachable' } },
    })
    expect(codeOf(await store.probe())).toBe('storage_error')
    await expect(readAll(store, 1)).rejects.toMatchObject({ code: 'storage_error' })
    await server().start()
    await mustAppend(store, appendTo(1, 1))
    expect(seqsOf(await readAll(store, 1))).toEqual([1, 2])
    await store.close()
  })
})
