import type { Store } from '@holdfast/core/ports'
import { describe, expect, it } from 'vitest'
import {
  appendTo,
  codeOf,
  entryOf,
  handleOf,
  key,
  mustAppend,
  mustCreate,
  newSession,
  type OpenStore,
  readAll,
  seqsOf,
  sessionId,
  useStore,
} from './store-fixture.ts'

/** Creates a session without an owner. */
async function atRest(store: Store, number: number, more: Parameters<typeof newSession>[1] = {}): Promise<void> {
  await mustCreate(store, newSession(number, more))
  await store.release(sessionId(number), 'node-a', 1)
}

/** Describes the trash: its sessions are hidden but complete. */
export function describeTrash(open: OpenStore): void {
  const store = useStore(open)
  const one = sessionId(1)
  const idsOf = async (trashed: boolean) =>
    (await store().list({ limit: 100, trashed })).sessions.map(({ meta }) => meta.id)

  describe('trash', () => {
    it('removes a session from lists, claims and work, and keeps its log', async () => {
      await atRest(store(), 1, { entry: entryOf(1, { busy: true, activeAt: 50 }) })
      await atRest(store(), 2)
      expect(codeOf(await store().trash(one, 7))).toBe('ok')
      expect(await idsOf(false)).toEqual([sessionId(2)])
      expect(await idsOf(true)).toEqual([one])
      expect((await store().list({ limit: 9, trashed: true })).sessions[0]?.trashedAt).toBe(7)
      expect((await store().entry(one))?.trashedAt).toBe(7)
      expect(await store().find({ type: 'latest', workspace: '/work' })).toEqual([sessionId(2)])
      expect(await store().busy()).toEqual([])
      expect(await store().claim(one, 'node-b', null)).toMatchObject({
        ok: false,
        fault: { code: 'session_trashed', details: { session: one } },
      })
      expect((await store().entry(one))?.owner).toBeNull()
      expect(seqsOf(await readAll(store(), 1))).toEqual([1])
      expect(await store().find({ type: 'id', id: one })).toEqual([one])
      expect(await store().find({ type: 'handle', handle: handleOf(1) })).toEqual([one])
    })

    it('is refused for an owned or missing session', async () => {
      await mustCreate(store(), newSession(1))
      expect(await store().trash(one, 7)).toMatchObject({
        ok: false,
        fault: { code: 'session_locked', details: { node: 'node-a' } },
      })
      expect((await store().entry(one))?.trashedAt).toBeNull()
      expect(codeOf(await store().trash(sessionId(9), 7))).toBe('session_not_found')
      expect(codeOf(await store().restore(sessionId(9)))).toBe('session_not_found')
      await mustAppend(store(), appendTo(1, 1))
    })

    it('keeps the first deletion time', async () => {
      await atRest(store(), 1)
      await store().trash(one, 7)
      expect(codeOf(await store().trash(one, 8))).toBe('ok')
      expect((await store().entry(one))?.trashedAt).toBe(7)
    })

    it('restores a session unchanged, and ignores one that is not in it', async () => {
      await atRest(store(), 1)
      const [entry, records] = [await store().entry(one), await readAll(store(), 1)]
      expect(codeOf(await store().restore(one))).toBe('ok')
      await store().trash(one, 7)
      expect(codeOf(await store().restore(one))).toBe('ok')
      expect(await store().entry(one)).toEqual(entry)
      expect(await readAll(store(), 1)).toEqual(records)
      expect([await idsOf(false), await idsOf(true)]).toEqual([[one], []])
      const lease = await store().claim(one, 'node-b', null)
      if (!lease.ok) throw new Error(lease.fault.message)
      await mustAppend(store(), appendTo(1, 1, { epoch: lease.value.epoch }))
    })

    it('keeps the names of its sessions until they are purged', async () => {
      const named = (number: number, meta: object) => newSession(number, { entry: entryOf(number, { meta }) })
      await atRest(store(), 1, { entry: entryOf(1, { meta: { key: key('k') } }) })
      await store().trash(one, 7)
      expect(codeOf(await store().create(named(2, { handle: handleOf(1) })))).toBe('handle_taken')
      expect(codeOf(await store().create(named(2, { key: key('k') })))).toBe('key_taken')
      expect(codeOf(await store().purge(one))).toBe('ok')
      expect(await store().entry(one)).toBeNull()
      expect(await idsOf(true)).toEqual([])
      await mustCreate(store(), named(2, { handle: handleOf(1), key: key('k') }))
    })

    it('purges sessions up to the given time, but no restored one', async () => {
      await atRest(store(), 1)
      await store().trash(one, 7)
      await store().restore(one)
      const purge = (trashedAt: number) => store().purge(one, { trashedAt })
      expect(await purge(7)).toMatchObject({ ok: false, fault: { code: 'session_not_trashed' } })
      expect(seqsOf(await readAll(store(), 1))).toEqual([1])
      await store().trash(one, 9)
      expect(codeOf(await purge(7))).toBe('session_not_trashed')
      expect(await idsOf(true)).toEqual([one])
      expect(codeOf(await purge(9))).toBe('ok')
      expect(await store().entry(one)).toBeNull()
      expect(codeOf(await purge(9))).toBe('session_not_found')
    })

    it('does not purge a session that was restored and opened', async () => {
      await atRest(store(), 1)
      await store().trash(one, 7)
      await store().restore(one)
      expect(codeOf(await store().claim(one, 'node-b', null))).toBe('ok')
      expect(codeOf(await store().purge(one, { trashedAt: 7 }))).toBe('session_not_trashed')
      expect((await store().entry(one))?.owner).toBe('node-b')
    })

    it('does not contain a new session with the name of a purged one', async () => {
      await atRest(store(), 1)
      await store().trash(one, 7)
      await store().purge(one)
      await mustCreate(store(), newSession(1))
      expect((await store().entry(one))?.trashedAt).toBeNull()
      expect([await idsOf(false), await idsOf(true)]).toEqual([[one], []])
    })

    it('keeps forks of trashed and purged sessions', async () => {
      await atRest(store(), 1)
      await atRest(store(), 2, { parent: one, base: 1 })
      await store().trash(one, 7)
      const before = await readAll(store(), 2)
      expect(seqsOf(before)).toEqual([1, 2])
      expect(await idsOf(false)).toEqual([sessionId(2)])
      await store().purge(one)
      expect(await readAll(store(), 2)).toEqual(before)
      expect(await idsOf(true)).toEqual([])
      expect(codeOf(await store().claim(sessionId(2), 'node-b', null))).toBe('ok')
    })

    it('races with a claim: only one of them succeeds', async () => {
      for (const number of [1, 2, 3, 4]) await atRest(store(), number)
      for (const number of [1, 2, 3, 4]) {
        const session = sessionId(number)
        const asked = [() => store().claim(session, 'node-b', null), () => store().trash(session, 7)]
        const answers = await Promise.all((number % 2 === 0 ? asked : asked.toReversed()).map((ask) => ask()))
        expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
        const row = await store().entry(session)
        expect((row?.owner === null) !== (row?.trashedAt === null)).toBe(true)
      }
    })
  })
}
