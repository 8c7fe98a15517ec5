import {
  clipLine,
  type Fault,
  fault,
  isOnLine,
  limits,
  type Recorded,
  type Seq,
  type SessionId,
} from '@holdfast/protocol'
import { toWindow, type Window, windowEvents } from '../../context/window.ts'
import type { WindowPosition } from '../../ports/request-builder.ts'
import type { Log, ReadRecord } from '../../ports/store/log.ts'
import type { EffectDeps } from '../dependencies.ts'
import { acceptsLoss } from './load-session.ts'
import { type Spans, walkLine } from './walk-line.ts'

/** Thrown when a record that the model must see cannot be read and its loss was not accepted. */
export class WindowDamaged extends Error {
  override readonly name = 'WindowDamaged'
  readonly seq: Seq

  constructor(seq: Seq) {
    super(`record ${seq} cannot be read`)
    this.seq = seq
  }
}

/** Reads what the model sees: the last checkpoint and all after it, pinned messages and the running turn's prompt. */
export async function readWindow(
  log: Pick<Log, 'read' | 'readRefs'>,
  id: SessionId,
  { line, seq, checkpoint, pins }: Omit<WindowPosition, 'session'>,
): Promise<Window> {
  const written = checkpoint === null ? null : await readOne(log, id, checkpoint)
  const { summary, keepFrom, prompt } =
    written?.event.type === 'checkpoint.written' ? written.event : { summary: null, keepFrom: 0 }
  const from = Math.max(keepFrom, line[0]?.from ?? 0)
  const older = pins.flatMap(({ message }) => (message < from && isOnLine(line, message) ? [message] : []))
  const [records, asked, ...pinned] = await Promise.all([
    readLine(log, id, clipLine(line, keepFrom, seq)),
    prompt === undefined ? null : readOne(log, id, prompt),
    ...older.map((message) => readOne(log, id, message)),
  ])
  const kept = pinned.filter((record) => record !== null)
  // A call settles on its own line, so its outcome is usually among the records; others are looked up.
  const known = new Set<number>(records.flatMap(({ event }) => (event.type === 'call.settled' ? [event.call] : [])))
  const calls = [...records, ...kept].flatMap(({ seq: call, event }) =>
    event.type === 'call.requested' && !known.has(call) ? [call] : [],
  )
  const others = calls.length === 0 ? [] : await readable(log, id, await log.readRefs(id, calls))
  return toWindow({ summary, from, records, settled: [...records, ...others], pinned: kept, prompt: asked })
}

async function readLine(log: Pick<Log, 'read'>, id: SessionId, spans: Spans): Promise<Recorded[]> {
  const records = walkLine(log, id, spans, { types: [...windowEvents, 'call.settled'] })
  return readable(log, id, await Array.fromAsync(records))
}

async function readOne(log: Pick<Log, 'read'>, id: SessionId, seq: number): Promise<Recorded | null> {
  const [record] = await readable(log, id, await log.read(id, { after: seq - 1, upTo: seq, limit: 1 }))
  return record ?? null
}

/** Returns the readable records. Throws for an unreadable one unless its loss was accepted. */
async function readable(log: Pick<Log, 'read'>, id: SessionId, records: readonly ReadRecord[]): Promise<Recorded[]> {
  const lost = records.filter((record) => 'lost' in record)
  const repairs = lost.length === 0 ? [] : await readRepairs(log, id)
  const damaged = lost.find(({ seq }) => !repairs.some((repair) => acceptsLoss(repair, seq)))
  if (damaged) throw new WindowDamaged(damaged.seq)
  return records.filter((record): record is Recorded => !('lost' in record))
}

async function readRepairs(log: Pick<Log, 'read'>, id: SessionId): Promise<readonly ReadRecord[]> {
  const repairs: ReadRecord[] = []
  for (let after = 0; ; ) {
    const page = await log.read(id, { after, limit: limits.pageRecordsMax, types: ['log.repaired'] })
    repairs.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < limits.pageRecordsMax) return repairs
    after = last.seq
  }
}

export const logDamaged = (session: SessionId, lost: readonly Seq[]): Fault =>
  fault(
    'log_damaged',
    `Session ${session} has records that cannot be read (${lost.join(', ')}), so it is read-only. The rest can be shown.`,
    { session, lost: [...lost] },
  )

/** Returns a check that the whole window can be read. It reads once, at the first prompt, so that opening is fast. */
export function createWindowDamageCheck(): (deps: EffectDeps) => Promise<Fault | null> {
  let isWhole = false
  return async ({ store, session, state }) => {
    if (isWhole) return null
    try {
      await readWindow(store, session, state())
      isWhole = true
      return null
    } catch (cause) {
      if (!(cause instanceof WindowDamaged)) throw cause
      return logDamaged(session, [cause.seq])
    }
  }
}
