import { closeSync, fdatasyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { CatalogueEntry, EncodedRecord, Store } from '@holdfast/core/ports'
import { SessionId } from '@holdfast/protocol'
import { aMeta, aRecord } from '@holdfast/testkit'
import { openSqliteStore } from '../../packages/holdfast/src/store/sqlite/sqlite-store.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { number, type Row } from '../table.ts'

export type AppendFigures = {
  readonly rawPerSecond: number
  readonly perSecond: { readonly [sessions: number]: number }
  readonly ofRaw: { readonly [sessions: number]: number }
  readonly loopDelayP99Ms: number
}

const sessionCounts = [1, 8, 64] as const
const eventBytes = 1024

/**
 * Measures acknowledged appends per second, relative to a plain write + fdatasync of the same bytes on the same disk.
 * The measurements alternate, so that other load on the machine affects all of them. Returns medians over `rounds`.
 */
async function benchAppend({ dir, rounds }: { readonly dir: string; readonly rounds: number }): Promise<AppendFigures> {
  mkdirSync(dir, { recursive: true })
  const opened = await openSqliteStore({ path: join(dir, 'bench.db') })
  if (!opened.ok) throw new Error(opened.fault.message)
  const store = opened.value
  const raw: number[] = []
  const rates = new Map<number, number[]>(sessionCounts.map((count) => [count, []]))
  const delays: number[] = []

  try {
    await rateOf(store, 64, 200) // warm-up: prepares statements, compiles code, grows the write-ahead log
    for (let round = 0; round < rounds; round++) {
      raw.push(rawRate(join(dir, 'raw'), 3000))
      for (const count of sessionCounts) {
        const loop = monitorEventLoopDelay({ resolution: 1 })
        loop.enable()
        rates.get(count)?.push(await rateOf(store, count, Math.ceil((count === 1 ? 4000 : 16000) / count)))
        loop.disable()
        delays.push(loop.percentile(99) / 1e6 - 1) // the histogram counts from the timer's own 1 ms
      }
    }
  } finally {
    await store.close()
  }

  const rawPerSecond = median(raw)
  const perSecond = Object.fromEntries(sessionCounts.map((count) => [count, median(rates.get(count) ?? [])]))
  const ofRaw = Object.fromEntries(Object.entries(perSecond).map(([count, rate]) => [count, rate / rawPerSecond]))
  return { rawPerSecond, perSecond, ofRaw, loopDelayP99Ms: Math.max(...delays) }
}

function rawRate(path: string, writes: number): number {
  const file = openSync(path, 'w')
  const bytes = Buffer.alloc(eventBytes, 'x')
  const start = performance.now()
  for (let index = 0; index < writes; index++) {
    writeSync(file, bytes)
    fdatasyncSync(file)
  }
  const seconds = (performance.now() - start) / 1000
  closeSync(file)
  return writes / seconds
}

/** Appends in many sessions at once. Like a session's mailbox, each waits for an acknowledgement before the next append. */
async function rateOf(store: Store, sessions: number, appendsEach: number): Promise<number> {
  const ids = Array.from({ length: sessions }, nextSession)
  const beginning = { parent: null, base: 0, owner: 'bench', records: [recordOf(1)], blobs: [] }
  await Promise.all(ids.map((session) => store.create({ ...beginning, session, entry: entryOf(session) })))
  const start = performance.now()
  await Promise.all(ids.map((id) => appendMany(store, id, appendsEach)))
  return (sessions * appendsEach) / ((performance.now() - start) / 1000)
}

async function appendMany(store: Store, session: SessionId, appends: number): Promise<void> {
  const same = { session, epoch: 1, entry: entryOf(session), clearDraft: false, blobs: [], trust: [] }
  for (let after = 1; after <= appends; after++) {
    const result = await store.append({ ...same, after, records: [recordOf(after + 1)] })
    if (!result.ok) throw new Error(result.fault.message)
  }
}

let born = 0
function nextSession(): SessionId {
  born += 1
  return SessionId.parse(`ses_0${String(born).padStart(25, '0')}`)
}

// Encoded before the clock starts, because the runtime passes the store an event that is already encoded.
const emptyEvent = { type: 'text.said', turn: 0, step: 2, provider: 'demo', text: '' } as const
const first = aRecord(1, { ...emptyEvent, text: 'x'.repeat(eventBytes - JSON.stringify(emptyEvent).length) })
const body = JSON.stringify(first.event)

function recordOf(seq: number): EncodedRecord {
  return { record: { ...first, seq }, body }
}

function entryOf(session: SessionId): CatalogueEntry {
  const number = Number(session.slice(-6))
  const meta = aMeta({
    id: session,
    handle: `calm-harbor-${number}`,
    status: 'thinking',
    messageCount: 1,
    turnCount: 1,
    preview: 'x'.repeat(80),
    recentText: 'x'.repeat(240),
  })
  return { meta, spoken: true, busy: true, activeAt: 1_700_000_000_000 + number }
}

/** Returns a row for each figure, beside its goal. */
export const measureAppend: Measurement = async ({ dir, rounds }) => {
  const figures = await benchAppend({ dir, rounds })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: AppendFigures): readonly Row[] => [
  { what: 'raw write + fdatasync', figure: `${number(figures.rawPerSecond)} /s`, goal: '', holds: null },
  ...sessionCounts.map((sessions): Row => {
    const ratio = figures.ofRaw[sessions] ?? Number.NaN
    const goal = sessions === 1 ? 0.65 : sessions === 64 ? 3.5 : null
    return {
      what: `appends acknowledged, ${sessions} session${sessions === 1 ? '' : 's'}`,
      figure: `${number(figures.perSecond[sessions] ?? Number.NaN)} /s = ${number(ratio, 2)} of raw`,
      goal: goal === null ? '' : `≥ ${goal} of raw`,
      holds: goal === null ? null : ratio >= goal,
    }
  }),
  {
    what: 'event loop delay while appending, p99',
    figure: `${number(figures.loopDelayP99Ms, 2)} ms`,
    goal: '< 10 ms',
    holds: figures.loopDelayP99Ms < 10,
  },
]
