import type { SearchRequest, Store } from '@holdfast/core/ports'
import { orThrow } from '@holdfast/protocol'
import {
  appendTo,
  describeSearch,
  mustAppend,
  mustCreate,
  newSession,
  recordAt,
  sessionId,
  textSaid,
  textsAfter,
} from '@holdfast/testkit/contracts'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../memory/memory-store.ts'
import { connect, type Database } from '../connect/connect.ts'
import { openPostgresStore } from '../postgres-store.ts'
import { newLocation, openEmpty, useServer, withDatabase } from '../testing/test-schema.ts'
import { createWordIndex, indexPage, selectUnindexed } from './word-index.ts'

const server = useServer()

type Plan = Readonly<Record<string, unknown>>

/** Returns all nodes of a plan that read a table. */
function scansOf(plan: unknown): readonly Plan[] {
  if (Array.isArray(plan)) return plan.flatMap(scansOf)
  if (typeof plan !== 'object' || plan === null) return []
  const node = plan as Plan // as the database explains it
  const below = [node['Plan'], node['Plans']].flatMap(scansOf)
  return 'Relation Name' in node ? [node, ...below] : below
}

async function indexAll(database: Database): Promise<void> {
  while ((await indexPage(database)) > 0);
}

/** Opens a store that indexes all records before each search. */
async function openIndexed(): Promise<Store> {
  const { store, location } = await openEmpty(server())
  const database = await connect(location)
  return {
    ...store,
    async search(request: SearchRequest) {
      await indexAll(database)
      return store.search(request)
    },
    async close() {
      await database.close()
      await store.close()
    },
  }
}

describe('postgres, with every record indexed', () => describeSearch(openIndexed))

describe('word index', () => {
  it('reports an unexpected error, which nothing else would notice, and can still be woken and closed', async () => {
    const problems: unknown[] = []
    const { promise: reported, resolve } = Promise.withResolvers<void>()
    const broken = { transaction: () => Promise.reject(new TypeError('a bug')) } as unknown as Database // the only method used
    const index = createWordIndex(broken, ({ where, cause }) => {
      problems.push([where, String(cause)])
      resolve()
    })
    index.wake()
    await reported
    index.wake()
    await index.close()
    expect(problems).toEqual([['indexing words', 'TypeError: a bug']])
  })

  it('is filled in the background after appends', async () => {
    const location = newLocation(server())
    const { store } = orThrow(await openPostgresStore(location))
    await mustCreate(store, newSession(1, { records: textsAfter(0, 'one', 'two') }))
    await mustAppend(store, appendTo(1, 2))
    await withDatabase(location, async ({ read }) => {
      const counts = async () =>
        (
          await read('select (select count(*) from @unindexed) as waiting, (select count(*) from @search) as indexed')
        )[0]
      await expect.poll(counts).toEqual({ waiting: 0, indexed: 3 })
    })
    await store.close()
  })

  it('is filled once by two nodes, and goes with its session', async () => {
    const location = newLocation(server())
    const { store } = orThrow(await openPostgresStore(location))
    await mustCreate(
      store,
      newSession(1, { records: textsAfter(0, ...Array.from({ length: 200 }, (_, index) => `word ${index}`)) }),
    )
    await withDatabase(location, async (one) =>
      withDatabase(location, async (other) => {
        await Promise.all([indexAll(one), indexAll(other)])
        expect(await one.read('select count(*) as count from @search')).toEqual([{ count: 200 }])
        await store.release(sessionId(1), 'node-a', 1)
        orThrow(await store.purge(sessionId(1)))
        expect(await one.read('select count(*) as count from @search')).toEqual([{ count: 0 }])
      }),
    )
    await store.close()
  })

  it('reads no records that are indexed already', async () => {
    const location = newLocation(server())
    const { store } = orThrow(await openPostgresStore(location))
    const texts = Array.from({ length: 2000 }, (_, index) => `word ${index}`)
    await mustCreate(store, newSession(1, { records: textsAfter(0, ...texts) }))
    await store.close() // it would index too
    await withDatabase(location, async (database) => {
      await indexAll(database)
      await database.write(`insert into @unindexed (pos, sid) select max(pos), max(sid) from @record`)
      const [row] = await database.read(`explain (analyze, format json) ${selectUnindexed}`)
      const scans = scansOf(row?.['QUERY PLAN']).filter((scan) => scan['Relation Name'] === 'record')
      expect(scans).toMatchObject([{ 'Actual Rows': 1, 'Actual Loops': 1 }])
    })
  })

  it('finds the same hits in the same order as a scan, for awkward words', async () => {
    const texts = [
      'user',
      'userName getUserName()',
      'the user_name of HTTPServer2',
      "don't",
      'é e\u0301',
      '東京 京東',
      'カ\u3099',
      'Straße ﬁ',
      'नमस्ते',
      'สวัสดีชาวโลก',
      'src/a.ts foo.bar()',
      'x'.repeat(70),
      'a b ab aB',
      '\\ \' " : & | ! ( )',
      '語'.repeat(300),
    ]
    const queries = [
      'user',
      'userName',
      'user_na*',
      '"user name"',
      'name',
      'server',
      'don',
      "don't",
      'é',
      '東京',
      '京東',
      '京',
      'ガ',
      'strasse',
      'fi',
      'नमस्ते',
      'ชาว',
      'foo.bar',
      'a.ts',
      'x'.repeat(70),
      `${'x'.repeat(65)}*`,
      '"a b"',
      'ab',
      '\\',
      '語語',
      "'; --",
      'a & b',
      'b a',
      '!user',
    ]
    const session = newSession(1, { records: texts.map((text, index) => recordAt(index + 1, textSaid(text))) })
    const memory = createMemoryStore()
    const store = await openIndexed()
    await mustCreate(memory, session)
    await mustCreate(store, session)
    const summarize = (found: Awaited<ReturnType<Store['search']>>) =>
      found.ok ? found.value.hits.map(({ message, score, snippet }) => [message, score, snippet]) : found.fault
    for (const text of queries) {
      const request = { text, limit: 50 }
      expect([text, summarize(await store.search(request))]).toEqual([text, summarize(await memory.search(request))])
    }
    await store.close()
  })
})
