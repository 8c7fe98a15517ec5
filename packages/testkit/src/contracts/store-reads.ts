import { CallId, type Event, type Seq } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import {
  appendTo,
  entryOf,
  mustAppend,
  mustCreate,
  newSession,
  note,
  type OpenStore,
  readAll,
  recordAt,
  seqsOf,
  sessionId,
  textSaid,
  textsAfter,
  useStore,
} from './store-fixture.ts'

const started = (call: number): Event => ({
  type: 'call.started',
  call: CallId.parse(call),
})

/** Describes reading in bounded pages, in both directions, across forks. */
export function describeReads(open: OpenStore): void {
  const store = useStore(open)

  describe('read', () => {
    it('reads pages forward from a cursor', async () => {
      await mustCreate(store(), newSession(1, { records: textsAfter(0, 'a', 'b', 'c', 'd', 'e') }))
      const page = (after: Seq) => store().read(sessionId(1), { after, limit: 2 })
      expect(seqsOf(await page(0))).toEqual([1, 2])
      expect(seqsOf(await page(2))).toEqual([3, 4])
      expect(seqsOf(await page(4))).toEqual([5])
      expect(seqsOf(await page(5))).toEqual([])
    })

    it('reads pages backward from a seq', async () => {
      await mustCreate(store(), newSession(1, { records: textsAfter(0, 'a', 'b', 'c', 'd', 'e') }))
      const page = (upTo?: Seq) => store().read(sessionId(1), { after: 0, upTo, limit: 2, newestFirst: true })
      expect(seqsOf(await page())).toEqual([5, 4])
      expect(seqsOf(await page(3))).toEqual([3, 2])
      expect(seqsOf(await page(1))).toEqual([1])
    })

    it('respects both ends of a range', async () => {
      await mustCreate(store(), newSession(1, { records: textsAfter(0, 'a', 'b', 'c', 'd', 'e') }))
      expect(seqsOf(await store().read(sessionId(1), { after: 1, upTo: 4, limit: 9 }))).toEqual([2, 3, 4])
      expect(seqsOf(await store().read(sessionId(1), { after: 1, upTo: 4, limit: 9, newestFirst: true }))).toEqual([
        4, 3, 2,
      ])
      expect(seqsOf(await store().read(sessionId(1), { after: 1, upTo: 99, limit: 9 }))).toEqual([2, 3, 4, 5])
    })

    it('counts only the wanted types against the limit', async () => {
      const records = [textSaid('a'), note('b'), textSaid('c'), note('d'), textSaid('e')].map((event, index) =>
        recordAt(index + 1, event),
      )
      await mustCreate(store(), newSession(1, { records }))
      const types = ['text.said']
      expect(seqsOf(await store().read(sessionId(1), { after: 0, limit: 2, types }))).toEqual([1, 3])
      expect(seqsOf(await store().read(sessionId(1), { after: 0, limit: 2, types, newestFirst: true }))).toEqual([5, 3])
    })

    it('ends a page at the record that reaches a size, and goes on after it', async () => {
      const long = 'x'.repeat(1000)
      const records = textsAfter(0, 'a', long, 'c', long, long)
      await mustCreate(store(), newSession(1, { records: [...records, recordAt(6, note('f'))] }))
      const page = (range: object) => store().read(sessionId(1), { after: 0, limit: 9, charsMax: 1000, ...range })
      expect(seqsOf(await page({}))).toEqual([1, 2])
      expect(seqsOf(await page({ after: 2 }))).toEqual([3, 4])
      expect(seqsOf(await page({ after: 4 }))).toEqual([5])
      expect(seqsOf(await page({ after: 5 }))).toEqual([6])
      expect(seqsOf(await page({ newestFirst: true }))).toEqual([6, 5])
      expect(seqsOf(await page({ types: ['note.added'] }))).toEqual([6])
      expect(seqsOf(await page({ limit: 1 }))).toEqual([1])
    })

    it('reads nothing of a missing session', async () => {
      expect(await readAll(store(), 9)).toEqual([])
    })

    it('finds the records that refer to a call', async () => {
      const records = [textSaid('1'), textSaid('2'), started(1), note('4'), started(2), started(1)].map(
        (event, index) => recordAt(index + 1, event),
      )
      await mustCreate(store(), newSession(1, { records }))
      expect(seqsOf(await store().readRefs(sessionId(1), [1]))).toEqual([3, 6])
      expect(seqsOf(await store().readRefs(sessionId(1), [2, 1]))).toEqual([3, 5, 6])
      expect(seqsOf(await store().readRefs(sessionId(1), []))).toEqual([])
    })
  })

  describe('lineage', () => {
    /** Session 1 has 5 records; 2 forks it at 3 and continues to 5; 3 forks 2 at 4 and continues to 6. */
    async function threeGenerations(): Promise<void> {
      await mustCreate(
        store(),
        newSession(1, {
          records: [recordAt(1, textSaid('1a')), recordAt(2, started(1)), ...textsAfter(2, '1c', '1d')],
        }),
      )
      await mustAppend(store(), appendTo(1, 4, { records: [recordAt(5, started(1))] }))
      const second = { parent: sessionId(1), base: 3, records: [recordAt(4, started(1)), recordAt(5, textSaid('2e'))] }
      await mustCreate(store(), newSession(2, second))
      await mustCreate(store(), newSession(3, { parent: sessionId(2), base: 4, records: textsAfter(4, '3e', '3f') }))
    }

    it("starts a fork's own records at base + 1", async () => {
      await threeGenerations()
      expect(await store().entry(sessionId(3))).toMatchObject({ base: 4, head: 6 })
      await mustAppend(store(), appendTo(3, 6))
      expect(seqsOf(await readAll(store(), 3))).toEqual([1, 2, 3, 4, 5, 6, 7])
    })

    it('reads the shared past from its ancestors, up to each base', async () => {
      await threeGenerations()
      const texts = (await readAll(store(), 3)).map((record) =>
        'event' in record && 'text' in record.event ? record.event.text : '-',
      )
      expect(texts).toEqual(['1a', '-', '1c', '-', '3e', '3f'])
    })

    it('pages across bases in both directions', async () => {
      await threeGenerations()
      expect(seqsOf(await store().read(sessionId(3), { after: 2, upTo: 5, limit: 2 }))).toEqual([3, 4])
      expect(seqsOf(await store().read(sessionId(3), { after: 1, limit: 4, newestFirst: true }))).toEqual([6, 5, 4, 3])
      expect(seqsOf(await store().read(sessionId(3), { after: 0, upTo: 2, limit: 9 }))).toEqual([1, 2])
    })

    it('finds outcomes of inherited calls, but none from after the fork', async () => {
      await threeGenerations()
      expect(seqsOf(await store().readRefs(sessionId(1), [1]))).toEqual([2, 5])
      expect(seqsOf(await store().readRefs(sessionId(2), [1]))).toEqual([2, 4])
      expect(seqsOf(await store().readRefs(sessionId(3), [1]))).toEqual([2, 4])
    })

    it('does not see later records of its parent', async () => {
      await threeGenerations()
      const before = await readAll(store(), 2)
      await mustAppend(store(), appendTo(1, 5, { entry: entryOf(1) }))
      expect(await readAll(store(), 2)).toEqual(before)
    })

    it('refuses a fork of a missing session', async () => {
      await mustCreate(store(), newSession(1))
      const orphan = newSession(2, { parent: sessionId(9), base: 1 })
      expect(await store().create(orphan)).toMatchObject({ ok: false, fault: { code: 'session_not_found' } })
      const ahead = newSession(2, { parent: sessionId(1), base: 2 })
      expect(await store().create(ahead)).toMatchObject({ ok: false, fault: { code: 'session_not_found' } })
      expect(await store().entry(sessionId(2))).toBeNull()
    })
  })
}
