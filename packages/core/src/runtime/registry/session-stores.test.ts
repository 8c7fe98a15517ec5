import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
import type { NewSession } from '../../ports/store/log.ts'
import type { Store } from '../../ports/store/store.ts'
import { createMemoryStore, openSqliteStore } from '../../testing/memory-runtime.ts'
import type { NodeDeps } from '../dependencies.ts'
import { createSessionStores } from './session-stores.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-stores-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

type OpenPair = () => Promise<Store>

const inFile: OpenPair = async () =>
  pair(orThrow(await openSqliteStore({ path: join(home, 'holdfast.db') })), createMemoryStore())
const inProcess: OpenPair = async () => pair(createMemoryStore(), createMemoryStore())

/** Returns a store that sends each call to the store of its session, so that the contract of a store can be run. */
function pair(disk: Store, memoryStore: Store): Store {
  const stores = createSessionStores({ store: disk, memoryStore } as NodeDeps) // the only fields used
  const both: Partial<Store> = {
    ...stores,
    busy: async () => (await Promise.all([disk.busy(), memoryStore.busy()])).flat(),
    removeUnspoken: async (owners) => (await disk.removeUnspoken(owners)) + (await memoryStore.removeUnspoken(owners)),
    async blobsInUse(signal) {
      const used = await Promise.all([disk.blobsInUse(signal), memoryStore.blobsInUse(signal)])
      return async (hashes) =>
        (await Promise.all(used.map((one) => one(hashes)))).reduce((all, some) => all.union(some))
    },
  }
  return new Proxy(disk, {
    get(_, name: keyof Store) {
      if (name === 'tenants' || name === 'permissionRules' || shared.includes(name) || !(name in disk))
        return disk[name]
      const send = (of: { readonly session: SessionId } | SessionId, ...rest: unknown[]) =>
        Reflect.apply(stores.storeOf(typeof of === 'string' ? of : of.session)[name], null, [of, ...rest])
      return both[name] ?? send
    },
  })
}

const shared: readonly string[] = [
  'registerNode',
  'nodes',
  'removeNode',
  'workspaceTrust',
  'addToken',
  'tokens',
  'removeToken',
  'touchToken',
  ...(['addCharge', 'spentOn', 'listSpending', 'caps', 'setCap', 'removeCap'] as const),
  'probe',
  'close',
] satisfies (keyof Store)[]

const isOdd = (session: SessionId): boolean => Number(session.slice(-3)) % 2 === 1

/** Returns the session with `persist: false` in its first event; the stored body stays the same. */
function unsaved(session: NewSession): NewSession {
  const records = session.records.map((one, index) => {
    const event = { type: 'session.started', persist: false } as (typeof one)['record']['event'] // the only fields read
    return index === 0 ? { ...one, record: { ...one.record, event } } : one
  })
  return { ...session, records }
}

/** Opens two stores as one. The sessions that `chosen` picks, and their forks, are in memory. */
async function openMixed(open: OpenPair, chosen: (session: SessionId) => boolean): Promise<Store> {
  const store = await open()
  const isUnsaved = new Map<SessionId, boolean>()
  return {
    ...store,
    create(session) {
      const isIt = isUnsaved.get(session.parent ?? session.session) ?? chosen(session.session)
      isUnsaved.set(session.session, isIt)
      return store.create(isIt ? unsaved(session) : session)
    },
  }
}

describeStore('a stored and an in-memory store', inProcess)

// Without the contract of trust: the trust of a workspace is always on disk.
describe.each([
  { name: 'all in memory', chosen: () => true },
  { name: 'every other session in memory', chosen: isOdd },
])('session stores, $name', ({ chosen }) => {
  const open = () => openMixed(inProcess, chosen)
  describeLog(open)
  describeReads(open)
  describeCatalogue(open)
  describeLists(open)
  describeTrash(open)
  describeBlobUses(open)
  describeLeases(open)
})

describe('session stores, every other session in a file', () => {
  describeCatalogue(() => openMixed(inFile, isOdd))
  describeLists(() => openMixed(inFile, isOdd))
})

describe('session stores', () => {
  it('write nothing of an in-memory session to the disk', async () => {
    const inner = createMemoryStore()
    const touched: string[] = []
    const reads: readonly string[] = ['find', 'entry', 'list', 'workspaceTrust'] satisfies (keyof Store)[]
    const disk = new Proxy(inner, {
      get(store, name: keyof Store) {
        if (!reads.includes(name)) touched.push(name)
        return store[name]
      },
    })
    const store = pair(disk, createMemoryStore())
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

  it('give a name to only one of two sessions created at once in different stores', async () => {
    const key = Key.parse('telegram:42')
    const keyed = (number: number) => newSession(number, { entry: entryOf(number, { meta: { key } }) })
    for (const [first, second] of [
      [keyed(1), unsaved(keyed(2))],
      [unsaved(keyed(1)), keyed(2)],
    ] as const) {
      const store = pair(createMemoryStore(), createMemoryStore())
      const answers = await Promise.all([store.create(first), store.create(second)])
      expect(answers.map(codeOf)).toEqual(['ok', 'key_taken'])
      expect(await store.find({ type: 'key', key })).toEqual([first.session])
    }
  })

  it('list each session of both once, also with equal times of activity', async () => {
    for (const limit of [1, 2, 3, 5, 12]) {
      const store = pair(createMemoryStore(), createMemoryStore())
      const numbers = Array.from({ length: 12 }, (_, index) => index + 1)
      for (const number of numbers) {
        const session = newSession(number, { entry: entryOf(number, { activeAt: Math.floor(number / 4) }) })
        await mustCreate(store, isOdd(session.session) ? unsaved(session) : session)
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

  it('find the latest session of both, pinned or not', async () => {
    const store = pair(createMemoryStore(), createMemoryStore())
    const at = (number: number, activeAt: number, pinned: boolean) =>
      newSession(number, { entry: entryOf(number, { activeAt, meta: { pinned } }) })
    const latest = () => store.find({ type: 'latest', workspace: '/work' })
    await mustCreate(store, unsaved(at(1, 10, true)))
    expect(await latest()).toEqual([sessionId(1)])
    await mustCreate(store, at(2, 20, false))
    expect(await latest()).toEqual([sessionId(2)])
    await mustCreate(store, unsaved(at(3, 30, false)), at(4, 5, true))
    expect(await latest()).toEqual([sessionId(3)])
  })

  it('refuse a fork whose parent is in the other store', async () => {
    const store = pair(createMemoryStore(), createMemoryStore())
    await mustCreate(store, unsaved(newSession(1)), newSession(2))
    expect(codeOf(await store.create(newSession(3, { parent: sessionId(1), base: 1 })))).toBe('session_not_found')
    expect(codeOf(await store.create(unsaved(newSession(3, { parent: sessionId(2), base: 1 }))))).toBe(
      'session_not_found',
    )
  })
})
