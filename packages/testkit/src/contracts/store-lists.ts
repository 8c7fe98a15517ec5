import type { ListRequest, Store } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { entryOf, mustCreate, newSession, type OpenStore, sessionId, useStore } from './store-fixture.ts'

type Asked = Omit<ListRequest, 'limit' | 'cursor'>

const workspaceOf = (number: number) => (number % 3 === 0 ? '/elsewhere' : '/work')
const modelOf = (number: number) => (number % 4 < 2 ? 'demo/agent' : 'demo/other')
const isPinned = (number: number) => number % 5 === 0
/** The parents of subagents: some belong to the first session, some to the third. */
const startedForOf = (number: number) => (number % 3 === 1 ? undefined : sessionId(number % 3 === 2 ? 1 : 3))
const isWaiting = (number: number) => number % 7 === 3
const isBusy = (number: number) => number % 2 === 0
const nodeOf = (number: number) => `node-${number % 3}`
/** Distinct times in another order than the creation of the sessions. */
const activeAtOf = (number: number) => 100 + ((number * 7) % 24)
const trashedAtOf = (number: number) => 1000 + ((number * 11) % 24)

const newSessionOf = (number: number) =>
  newSession(number, {
    owner: nodeOf(number),
    entry: entryOf(number, {
      busy: isBusy(number),
      activeAt: activeAtOf(number),
      meta: {
        workspace: workspaceOf(number),
        model: modelOf(number),
        pinned: isPinned(number),
        title: number % 6 === 1 ? 'a harbour' : 'a town',
        parent: startedForOf(number),
        ...(isWaiting(number) && { waiting: 2 }),
      },
    }),
  })

const numbers = Array.from({ length: 20 }, (_, index) => index + 1)
const inTrash = [2, 5, 9, 10, 14, 15]
const listedOnes = numbers.filter((number) => !inTrash.includes(number))

/** Returns the expected list, computed in the simplest way. */
function expected(asked: Asked): readonly SessionId[] {
  const {
    workspace,
    search,
    model,
    activeFrom = 0,
    activeBefore = 9999,
    pinned,
    startedFor,
    runningAt,
    waiting,
    trashed,
    trashedBefore,
  } = asked
  return (trashed ? inTrash : listedOnes)
    .filter((number) => workspace === undefined || workspaceOf(number) === workspace)
    .filter((number) => search === undefined || number % 6 === 1)
    .filter((number) => model === undefined || modelOf(number) === model)
    .filter((number) => activeAtOf(number) >= activeFrom && activeAtOf(number) < activeBefore)
    .filter((number) => trashedBefore === undefined || (trashed && trashedAtOf(number) < trashedBefore))
    .filter((number) => pinned === undefined || isPinned(number) === pinned)
    .filter((number) => startedFor === undefined || startedForOf(number) === startedFor)
    .filter((number) => runningAt === undefined || (!trashed && isBusy(number) && runningAt.includes(nodeOf(number))))
    .filter((number) => waiting === undefined || isWaiting(number))
    .toSorted((left, right) =>
      trashed
        ? trashedAtOf(right) - trashedAtOf(left)
        : Number(isPinned(right)) - Number(isPinned(left)) || activeAtOf(right) - activeAtOf(left),
    )
    .map(sessionId)
}

const each: readonly Asked[] = [
  {},
  { workspace: '/work' },
  { search: 'harbour' },
  { model: 'demo/other' },
  { activeFrom: 110 },
  { activeBefore: 110 },
  { activeFrom: 105, activeBefore: 117 },
  { pinned: true },
  { pinned: false },
  { startedFor: sessionId(1) },
  { startedFor: sessionId(2) },
  { runningAt: ['node-0', 'node-2'] },
  { runningAt: [] },
  { waiting: true },
  { trashedBefore: 1007 },
  { trashedBefore: 1014 },
  { workspace: '/work', trashedBefore: 1020 },
]
const combined: readonly Asked[] = [
  { workspace: '/elsewhere', model: 'demo/agent', activeFrom: 104, pinned: false },
  { workspace: '/work', activeBefore: 115 },
  { workspace: '/work', pinned: true },
  { startedFor: sessionId(1), workspace: '/work', activeFrom: 104 },
  { startedFor: sessionId(1), trashedBefore: 1014 },
  { startedFor: sessionId(3), runningAt: ['node-0'] },
  { workspace: '/work', runningAt: ['node-1', 'node-2'], activeFrom: 103 },
  { workspace: '/work', waiting: true, activeFrom: 104 },
  { model: 'demo/agent', waiting: true, search: 'harbour' },
  { waiting: true, pinned: false, activeBefore: 118 },
]
const all = [...each, ...combined].flatMap((asked): readonly Asked[] => [asked, { ...asked, trashed: true }])

async function paged(store: Store, asked: Asked, limit: number): Promise<readonly SessionId[]> {
  const seen: SessionId[] = []
  let cursor: string | undefined
  do {
    const page = await store.list({ ...asked, limit, cursor })
    expect(page.sessions.length).toBeLessThanOrEqual(limit)
    if (page.next !== null) expect(page.sessions).toHaveLength(limit)
    seen.push(...page.sessions.map(({ meta }) => meta.id))
    cursor = page.next ?? undefined
  } while (cursor !== undefined && seen.length <= numbers.length)
  return seen
}

/** Describes lists with every filter, complete and in pages. */
export function describeLists(open: OpenStore): void {
  const store = useStore(open)

  describe('a list', () => {
    it('applies each filter, pinned first, newest first, in pages of any size', async () => {
      await mustCreate(store(), ...numbers.map(newSessionOf))
      for (const number of inTrash) {
        await store().release(sessionId(number), nodeOf(number), 1)
        expect(await store().trash(sessionId(number), trashedAtOf(number))).toEqual({ ok: true, value: undefined })
      }
      expect(expected({})).toHaveLength(14)
      for (const asked of all) {
        for (const limit of [1, 3, 100]) {
          expect({ asked, ids: await paged(store(), asked, limit) }).toEqual({ asked, ids: expected(asked) })
        }
      }
    })

    it('keeps its position when a listed session moves to the top', async () => {
      await mustCreate(store(), ...numbers.map(newSessionOf))
      const first = await store().list({ limit: 8 })
      const moved = first.sessions.at(-1)?.meta.id
      const rest = await store().list({ limit: 100, cursor: first.next ?? '' })
      expect(rest.sessions).toHaveLength(12)
      const number = Number(moved?.slice(-3))
      const entry = entryOf(number, { activeAt: 999, meta: { ...newSessionOf(number).entry.meta, pinned: true } })
      const append = { session: sessionId(number), after: 1, epoch: 1, records: [], entry, clearDraft: false }
      expect(await store().append({ ...append, blobs: [], trust: [] })).toEqual({ ok: true, value: undefined })
      const again = await store().list({ limit: 100, cursor: first.next ?? '' })
      expect(again.sessions.map(({ meta }) => meta.id)).toEqual(rest.sessions.map(({ meta }) => meta.id))
      expect((await store().list({ limit: 1 })).sessions[0]?.meta.id).toBe(moved)
    })

    it('of subagents leaves out forks and removed sessions', async () => {
      await mustCreate(store(), newSession(1))
      const startedFor = (number: number) => entryOf(number, { meta: { parent: sessionId(1) } })
      const fork = { parent: sessionId(1), base: 1, entry: startedFor(2) }
      await mustCreate(store(), newSession(2, fork), newSession(3, { entry: startedFor(3) }))
      await mustCreate(store(), newSession(4, { entry: startedFor(4) }))
      await store().release(sessionId(4), 'node-a', 1)
      expect(await store().trash(sessionId(4), 1)).toMatchObject({ ok: true })
      expect(await store().purge(sessionId(4))).toMatchObject({ ok: true })
      const asked = { startedFor: sessionId(1), limit: 10 }
      expect((await store().list(asked)).sessions.map(({ meta }) => meta.id)).toEqual([sessionId(3)])
      expect((await store().list({ ...asked, trashed: true })).sessions).toEqual([])
    })

    it('finds the session with the latest message, pinned or not', async () => {
      const at = (number: number, activeAt: number, pinned: boolean) =>
        newSession(number, { entry: entryOf(number, { activeAt, meta: { pinned } }) })
      await mustCreate(store(), at(1, 10, true), at(2, 30, false), at(3, 20, true), at(4, 5, false))
      expect(await store().find({ type: 'latest', workspace: '/work' })).toEqual([sessionId(2)])
      await store().release(sessionId(2), 'node-a', 1)
      await store().trash(sessionId(2), 1)
      expect(await store().find({ type: 'latest', workspace: '/work' })).toEqual([sessionId(3)])
    })
  })
}
