import { setTimeout as delay } from 'node:timers/promises'
import { orThrow, type SessionHandle } from '@holdfast/protocol'
import { number, type Row } from '../table.ts'
import { type Crowd, startCrowd } from './parts/crowd.ts'
import { eventsPath, type LoadServer, type ServerReport, say, startLoadServer } from './parts/load-server.ts'
import { describe, megabytes, type Percentiles } from './parts/percentiles.ts'
import { openViewer } from './parts/viewer.ts'
import type { Scenario } from './scenario.ts'

const live = 10
const eventBytes = 64 * 1024
/** What a client that does not read may cost: its buffer, with a tenth for everything else. */
const costMax = 2.2 * 1024 ** 2

type Produced = { readonly late: Percentiles; readonly head: number; readonly server: ServerReport }

/** One client stops to read beside others that do read, while much is produced. */
export const stallOneReader: Scenario = async ({ dir, isQuick }) => {
  const [bytes, seconds] = isQuick ? [4 * 1024 ** 2, 1] : [100 * 1024 ** 2, 20]
  await using server = await startLoadServer(dir)
  await using crowd = startCrowd()
  const handle = await server.start()
  await crowd.open(server.target(eventsPath(handle)), live)
  await produce({ server, crowd, handle }, bytes / 4, seconds / 4) // warm-up: grows buffers
  const before = await produce({ server, crowd, handle }, bytes, seconds)
  const stalled = openViewer(server.target(eventsPath(handle)), () => undefined, before.head)
  await stalled.until(({ events }) => events.has('model')) // the last of what a client with a cursor gets first
  stalled.socket.pause()
  const beside = await produce({ server, crowd, handle }, bytes, seconds)
  stalled.socket.resume()
  await stalled.until(({ lastId }) => lastId >= beside.head)
  const wasCut = stalled.seen.isClosed
  stalled.socket.destroy()
  const again = openViewer(server.target(eventsPath(handle)), () => undefined, stalled.seen.lastId)
  await again.until(({ lastId }) => lastId >= beside.head)
  again.socket.destroy()
  const { open, missed } = await crowd.report()
  await crowd.drop()
  const gaps = stalled.seen.missed + again.seen.missed
  const end = `${wasCut ? 'cut' : 'went on'}, ${gaps} gaps`
  const violations = [
    ...(gaps > 0 || again.seen.lastId !== beside.head ? [`it has ${gaps} gaps, and ends at ${again.seen.lastId}`] : []),
    ...(missed > 0 || open < live ? [`of ${live} others ${live - open} were cut, with ${missed} gaps`] : []),
  ]
  const rows = rowsOf(bytes, { before, beside }, end, gaps)
  return { figures: { before, beside, wasCut, gaps }, rows, violations }
}

type Place = { readonly server: LoadServer; readonly crowd: Crowd; readonly handle: SessionHandle }

/** Records `bytes` of client events within `seconds` while the model says words, whose delays are measured. */
async function produce({ server, crowd, handle }: Place, bytes: number, seconds: number): Promise<Produced> {
  const data = 'x'.repeat(eventBytes)
  const count = Math.ceil(bytes / eventBytes)
  await crowd.forget()
  await server.reset()
  const finished = await say(handle, { words: Math.ceil(seconds * 20), bytes: 30, rate: 20 })
  const start = performance.now()
  for (let sent = 0; sent < count; sent++) {
    const dueMs = start + (sent * seconds * 1000) / count - performance.now()
    if (dueMs > 0) await delay(dueMs)
    orThrow(
      await handle.submit({ type: 'appendClientEvent', event: { eventId: `${start}-${sent}`, type: 'load', data } }),
    )
  }
  await finished()
  const { seq } = orThrow(await handle.submit({ type: 'rename', title: `${start}` }))
  const { late } = await crowd.waitForRecords(seq)
  return { late, head: seq, server: await server.report() }
}

function rowsOf(
  bytes: number,
  { before, beside }: { readonly before: Produced; readonly beside: Produced },
  end: string,
  gaps: number,
): readonly Row[] {
  const cost = beside.server.heapBytes - before.server.heapBytes
  const ratio = beside.late.p99 / before.late.p99
  return [
    {
      what: `a client that does not read, ${megabytes(bytes)} produced: memory for it`,
      figure: `${megabytes(cost)}, resident ${megabytes(before.server.rssBytes)} then ${megabytes(beside.server.rssBytes)}`,
      goal: `≤ ${megabytes(costMax)}`,
      holds: cost <= costMax,
    },
    { what: 'when it reads again', figure: end, goal: '0 gaps', holds: gaps === 0 },
    { what: `${live} other viewers, before`, figure: describe(before.late), goal: '', holds: null },
    {
      what: `${live} other viewers, beside it`,
      figure: `${describe(beside.late)}: p99 ${number(ratio, 2)} times`,
      goal: '≤ 1.2 times',
      holds: ratio <= 1.2,
    },
  ]
}
