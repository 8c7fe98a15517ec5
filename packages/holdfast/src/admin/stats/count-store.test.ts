import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Event, orThrow, type Stats } from '@holdfast/protocol'
import { entryOf, newSession, recordAt, sessionId } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDiskStore } from '../../store/open/open-storage.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { locationIn } from '../../store/open/testing/a-store.ts'
import { countStore } from './count-store.ts'

let base = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'hf-stats-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const step = (model: string) => ({ type: 'step.started', turn: 0, model, thinkingLevel: 'off', attempt: 1 })
const ended = (cost: number | null, input = 10) => ({
  type: 'step.ended',
  turn: 0,
  step: 1,
  finish: 'stop',
  usage: { input, output: 2, cacheRead: 1, cacheWrite: 0, cost },
})
const titled = (usage: object | null) => ({
  type: 'settings.changed',
  title: 'A talk',
  named: { model: 'demo/titles', usage },
})
const summed = {
  type: 'checkpoint.written',
  turn: 0,
  summary: 's',
  keepFrom: 1,
  tokensBefore: 9,
  tokensAfter: 1,
  why: 'asked',
  usage: { input: 4, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0.125 },
  model: 'demo/scribe',
}
const cut = { type: 'step.ended', turn: 0, step: 1, finish: 'error', usage: null }

/** Creates a session of these events, each on its day. */
async function fill(location: DiskLocation): Promise<void> {
  const { store } = orThrow(await openDiskStore(location, () => undefined))
  const days: readonly (readonly [string, object])[] = [
    ['2026-01-01', step('demo/one')],
    ['2026-01-01', ended(0.5)],
    ['2026-01-02', step('demo/two')],
    ['2026-01-02', ended(null)],
    ['2026-01-02', step('demo/two')],
    ['2026-01-02', cut],
    ['2026-01-02', titled({ input: 3, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0.25 })],
    ['2026-01-02', { type: 'settings.changed', title: 'By hand' }],
    ['2026-01-02', summed],
  ]
  const records = days.map(([day, event], index) => {
    const { record, body } = recordAt(index + 1, event as Event)
    return { record: { ...record, at: `${day}T12:00:00.000Z` }, body }
  })
  orThrow(await store.create(newSession(1, { records, entry: entryOf(1) })))
  orThrow(await store.create(newSession(2, { records: records.slice(0, 2), entry: entryOf(2) })))
  await store.release(sessionId(2), newSession(2).owner, 1)
  orThrow(await store.trash(sessionId(2), 1))
  await store.close()
}

describe.each(['sqlite', 'jsonl'] as const)('stats of a %s store', (kind) => {
  const nowMs = Date.parse('2026-01-02T23:00:00.000Z')
  let stats: Stats
  beforeEach(async () => {
    const location = locationIn(base, kind)
    await fill(location)
    stats = orThrow(await countStore(location, { days: 30, nowMs }))
  })

  it('count sessions and their disk space', () => {
    expect(stats.sessions).toEqual({ listed: 1, pinned: 0, trashed: 1, unspoken: 0 })
    expect(stats.store).toMatchObject({ records: 11, blobs: 0 })
    expect(stats.store.recordBytes).toBeGreaterThan(500)
    expect(stats.workspaces).toMatchObject([{ workspace: entryOf(1).meta.workspace, sessions: 2, calls: 6 }])
  })

  it('count calls without a known price separately, by day and by model', () => {
    expect(stats.total).toMatchObject({ calls: 6, unpriced: 2, input: 37, output: 8, cost: 1.375 })
    expect(stats.days).toMatchObject([
      { day: '2026-01-02', calls: 4, unpriced: 2, cost: 0.375 },
      { day: '2026-01-01', calls: 2, unpriced: 0, cost: 1 },
    ])
    const cost = Object.fromEntries(stats.models.map(({ model, cost: sum, input }) => [model, [input, sum]]))
    expect(cost).toEqual({
      'demo/one': [20, 1],
      'demo/two': [10, null],
      'demo/titles': [3, 0.25],
      'demo/scribe': [4, 0.125],
    })
  })

  it('show the requested number of days', async () => {
    const two = orThrow(await countStore(locationIn(base, kind), { days: 1, nowMs }))
    expect(two.days.map(({ day }) => day)).toEqual(['2026-01-02'])
    expect(two.total).toEqual(stats.total)
  })
})

it('reports a missing store', async () => {
  const none = locationIn(base, 'sqlite', 'none')
  expect(await countStore(none, { days: 1, nowMs: 0 })).toMatchObject({ ok: false, fault: { code: 'not_found' } })
})

it('counts logs and rebuildable files by their path inside the store', async () => {
  const location = locationIn(join(base, 'snapshots'), 'jsonl')
  await fill(location)
  const { store } = orThrow(await countStore(location, { days: 1, nowMs: 0 }))
  expect(store.recordBytes).toBeGreaterThan(500)
  expect(store.indexBytes).toBe(statSync(join(location.path, 'catalogue.jsonl')).size)
})
