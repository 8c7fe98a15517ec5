import {
  approvedBy,
  aSession,
  askedFor,
  type EventInput,
  recordsOf,
  requested,
  settled,
  started,
  thinking,
  turnEnded,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { ReadRecord } from '../../ports/store/log.ts'
import type { StoredSnapshot } from '../../ports/store/store.ts'
import { foldNumber } from '../../session/evolve.ts'
import { type Folded, fold, loadSession, type SessionSource, toSnapshot } from './load-session.ts'

const round: readonly EventInput[] = [
  ...requested,
  askedFor(5),
  approvedBy(5),
  { type: 'call.started', call: 5 },
  settled(5),
  turnEnded('done'),
]
const log: readonly EventInput[] = [started, ...round]

const folded = (given: readonly EventInput[]): Folded => {
  const whole = recordsOf(given).reduce<Folded | null>((sum, record) => fold(sum, aSession, record), null)
  if (!whole) throw new Error('a log begins')
  return whole
}
function sourceOf(
  given: readonly EventInput[],
  { lost = [], snapshot = null }: { readonly lost?: readonly number[]; readonly snapshot?: StoredSnapshot | null } = {},
) {
  const records = recordsOf(given).map(
    (record): ReadRecord => (lost.includes(record.seq) ? { seq: record.seq, lost: true } : record),
  )
  const reads: number[] = []
  const source: SessionSource = {
    async read(_, { after, upTo = 1e9, limit }) {
      reads.push(after)
      return records.filter(({ seq }) => seq > after && seq <= upTo).slice(0, limit)
    },
    loadSnapshot: async (_, number) => (snapshot?.fold === number ? snapshot : null),
    entry: async () => ({ entry: folded(given).row.entry, head: given.length, base: 0, owner: null, trashedAt: null }),
  }
  return { source, reads }
}

describe('loading a session', () => {
  it.each(log.map((_, index) => index + 1))(
    'from a snapshot at %i and the records after it equals the fold of all records',
    async (seq) => {
      const { source, reads } = sourceOf(log, { snapshot: toSnapshot(folded(log.slice(0, seq))) })
      expect(await loadSession(source, aSession)).toMatchObject({
        ok: true,
        value: { ...folded(log), snapshotSeq: seq, lost: [] },
      })
      expect(reads.every((after) => after >= seq)).toBe(true)
    },
  )

  it('ignores a snapshot of another fold version', async () => {
    const other = { ...toSnapshot(folded(log.slice(0, 3))), fold: foldNumber + 1, body: '{"state":"of another day"}' }
    expect(await loadSession(sourceOf(log, { snapshot: other }).source, aSession)).toMatchObject({
      ok: true,
      value: { ...folded(log), snapshotSeq: 0 },
    })
  })

  it.each(['', 'garbage', 'null', '5', '{}', '{"state":{"seq":3}}'])('ignores the snapshot %j', async (body) => {
    const snapshot = { ...toSnapshot(folded(log.slice(0, 3))), body }
    expect(await loadSession(sourceOf(log, { snapshot }).source, aSession)).toMatchObject({
      ok: true,
      value: { ...folded(log), snapshotSeq: 0 },
    })
  })

  it('that does not exist is refused', async () => {
    const source = { ...sourceOf(log).source, entry: async () => null }
    expect(await loadSession(source, aSession)).toMatchObject({ fault: { code: 'session_not_found' } })
  })

  it.each(round.map((_, index) => index + 2))(
    'with record %i damaged names the record and folds the rest',
    async (seq) => {
      const loaded = await loadSession(sourceOf(log, { lost: [seq] }).source, aSession)
      expect(loaded).toMatchObject({ ok: true, value: { lost: [seq], state: { seq: log.length } } })
    },
  )

  it.each(round.map((_, index) => index + 2))(
    'with the loss of record %i accepted continues without it',
    async (seq) => {
      const given: readonly EventInput[] = [...log, { type: 'log.repaired', lost: [seq] }]
      const loaded = await loadSession(sourceOf(given, { lost: [seq] }).source, aSession)
      expect(loaded).toMatchObject({ ok: true, value: { lost: [], state: { seq: given.length } } })
      const other = await loadSession(sourceOf(given, { lost: [seq, 3, 4] }).source, aSession)
      expect(other).toMatchObject({ ok: true, value: { lost: [3, 4].filter((one) => one !== seq) } })
    },
  )

  it('whose first record is damaged is refused', async () => {
    expect(await loadSession(sourceOf(log, { lost: [1] }).source, aSession)).toMatchObject({
      fault: { code: 'log_damaged', details: { lost: [1] } },
    })
  })

  it('does not read a damaged record before the snapshot', async () => {
    const snapshot = toSnapshot(folded([started, ...thinking]))
    expect(await loadSession(sourceOf(log, { lost: [1, 2], snapshot }).source, aSession)).toMatchObject({
      ok: true,
      value: { lost: [] },
    })
  })
})
