import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewSession } from '@holdfast/core/ports'
import { type Event, Handle, Key, orThrow, type SessionId } from '@holdfast/protocol'
import {
  appendTo,
  codeOf,
  describeBlobUses,
  describeCatalogue,
  describeLeases,
  describeLists,
  describeLog,
  describeReads,
  describeStore,
  describeTrash,
  entryOf,
  mustAppend,
  mustCreate,
  newSession,
  readAll,
  recordAt,
  sessionId,
} from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PlacedStore } from '../list-cursor.ts'
import { createMemoryStore } from '../memory/memory-store.ts'
import { openSqliteStore } from '../sqlite/sqlite-store.ts'
import { createSplitStore } from './split-store.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-split-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

type OpenSplit = () => Promise<PlacedStore>

const inFile: OpenSplit = async () =>
  createSplitStore(orThrow(await openSqliteStore({ path: join(home, 'holdfast.db') })), createMemoryStore())
const inProcess: OpenSplit = async () => createSplitStore(createMemoryStore(), createMemoryStore())

const isOdd = (session: SessionId): boolean => Number(session.slice(-3)) % 2 === 1

/** The session as it is, but that its first event says it is not to be kept; what is stored is the body. */
function unkept(session: NewSession): NewSession {
  const records = session.records.map((one, index) => {
    const event = { type: 'session.started', persist: false } as (typeof one)['record']['event'] // all that is looked at
    return index === 0 ? { ...one, record: { ...one.record, event } } : one
  })
  return { ...session, records }
}

/** A split store in which the sessions that `chosen` picks, and their forks, are in memory. */
async function openMixed(open: OpenSplit, chosen: (session: SessionId) => boolean): Promise<PlacedStore> {
  const store = await open()
  const isUnkept = new Map<SessionId, boolean>()
  return {
    ...store,
    create(session) {
      const isIt = isUnkept.get(session.parent ?? session.session) ?? chosen(session.session)
      isUnkept.set(session.session, isIt)
      return store.create(isIt ? unkept(session) : session)
    },
  }
}

describeStore('split', inProcess)

// But for trust: a workspace's is the disk's.
describe.each([
  { name: 'all in memory', chosen: () => true },
  { name: 'every other session in memory', chosen: isOdd },
])('split store, $name', ({ chosen }) => {
  const open = () => openMixed(inProcess, chosen)
  describeLog(open)
  describeReads(open)
  describeCatalogue(open)
  describeLists(open)
  describeTrash(open)
  describeBlobUses(open)
  describeLeases(open)
})

describe('split store, every other session in a file', () => {
  describeCatalogue(() => openMixed(inFile, isOdd))
  describeLists(() => openMixed(inFile, isOdd))
})

describe('split store', () => {
  it('lets nothing of an unkept session near the disk', async () => {
    const inner = createMemoryStore()
    const touched: string[] = []
    const reads: readonly string[] = ['find', 'entry', 'list', 'workspaceTrust'] satisfies (keyof PlacedStore)[]
    const disk = new Proxy(inner, {
      get(store, name: keyof PlacedStore) {
        if (!reads.includes(name)) touched.push(name)
        return store[name]
      },
    })
    const store = createSplitStore(disk, createMemoryStore())
    const one = sessionId(1)
    const event: Event = {
      type: 'session.started',
      handle: Handle.parse('calm-harbor-1'),
      workdir: '/work',
      persist: false,
      settings: { model: 'demo/agent', thinkingLevel: 'off', mode: 'exec', budgets: {} },
    }
    await mustCreate(store, newSession(1, { records: [recordAt(1, event)] }))
    await mustAppend(
      store,
      appendTo(1, 1, { trust: [{ type: 'granted', trust: { tool: 'shell', scope: 'workspace' } }] }),
    )
    await store.saveSnapshot(one, { seq: 1, fold: 1, body: '' })
    await store.release(one, 'node-a', 1)
    expect(orThrow(await store.claim(one, 'node-a', null))).toEqual({ epoch: 3, head: 2, base: 0 })
    expect(await readAll(store, 1)).toHaveLength(2)
    expect(touched).toEqual([])
    expect(await inner.entry(one)).toBeNull()
    expect(await store.workspaceTrust('/work')).toEqual([])
  })

  it('gives a name to one of two that ask at once, wherever they are kept', async () => {
    const key = Key.parse('telegram:42')
    const keyed = (number: number) => newSession(number, { entry: entryOf(number, { meta: { key } }) })
    for (const [first, second] of [
      [keyed(1), unkept(keyed(2))],
      [unkept(keyed(1)), keyed(2)],
    ] as const) {
      const store = createSplitStore(createMemoryStore(), createMemoryStore())
      const answers = await Promise.all([store.create(first), store.create(second)])
      expect(answers.map(codeOf)).toEqual(['ok', 'key_taken'])
      expect(await store.find({ type: 'key', key })).toEqual([first.session])
    }
  })

  it('pages through both, each session once, whatever is active at the same moment', async () => {
    for (const limit of [1, 2, 3, 5, 12]) {
      const store = createSplitStore(createMemoryStore(), createMemoryStore())
      const numbers = Array.from({ length: 12 }, (_, index) => index + 1)
      for (const number of numbers) {
        const session = newSession(number, { entry: entryOf(number, { activeAt: Math.floor(number / 4) }) })
        await mustCreate(store, isOdd(session.session) ? unkept(session) : session)
      }
      const seen: SessionId[] = []
      let cursor: string | undefined
      do {
        const page = await store.list({ limit, cursor })
        expect(page.sessions.length).toBeLessThanOrEqual(limit)
        seen.push(...page.sessions.map(({ meta }) => meta.id))
        cursor = page.next ?? undefined
      } while (cursor !== undefined && seen.length < 99)
      expect(seen).toEqual([12, 11, 9, 10, 8, 7, 5, 6, 4, 3, 1, 2].map(sessionId))
    }
  })

  it('knows the latest of both, whatever is pinned in either', async () => {
    const store = createSplitStore(createMemoryStore(), createMemoryStore())
    const at = (number: number, activeAt: number, pinned: boolean) =>
      newSession(number, { entry: entryOf(number, { activeAt, meta: { pinned } }) })
    const latest = () => store.find({ type: 'latest', workspace: '/work' })
    await mustCreate(store, unkept(at(1, 10, true)))
    expect(await latest()).toEqual([sessionId(1)])
    await mustCreate(store, at(2, 20, false))
    expect(await latest()).toEqual([sessionId(2)])
    await mustCreate(store, unkept(at(3, 30, false)), at(4, 5, true))
    expect(await latest()).toEqual([sessionId(3)])
  })

  it('does not fork across the two', async () => {
    const store = createSplitStore(createMemoryStore(), createMemoryStore())
    await mustCreate(store, unkept(newSession(1)), newSession(2))
    expect(codeOf(await store.create(newSession(3, { parent: sessionId(1), base: 1 })))).toBe('session_not_found')
    expect(codeOf(await store.create(unkept(newSession(3, { parent: sessionId(2), base: 1 }))))).toBe(
      'session_not_found',
    )
  })
})
