import { invariant, orThrow, type SessionHandle } from '@holdfast/protocol'
import { number, type Row } from '../table.ts'
import { type Crowd, startCrowd } from './parts/crowd.ts'
import { eventsPath, type LoadServer, type ServerReport, say, startLoadServer } from './parts/load-server.ts'
import { megabytes } from './parts/percentiles.ts'
import type { Scenario } from './scenario.ts'

const slack = 5
const samplesMin = 8

/**
 * Repeats the day of a server as fast as it goes: sessions are loaded, stream to viewers that come, go and come back, are
 * changed, listed and unloaded. The slope of its memory shows what remains of that.
 */
export const soakServer: Scenario = async ({ dir, isQuick, soakMinutes }) => {
  const durationMs = isQuick ? 3000 : soakMinutes * 60_000
  const [sessions, viewers] = isQuick ? [3, 5] : [50, 20]
  await using server = await startLoadServer(dir)
  await using crowd = startCrowd()
  const handles = await Promise.all(Array.from({ length: sessions }, server.start))
  let rounds = 0
  const liveOneDay = () => liveWith(server, crowd, at(handles, rounds++), viewers)
  const warmUntil = performance.now() + durationMs / 3
  while (performance.now() < warmUntil) await liveOneDay()
  const before = await server.report()
  const samples: Sample[] = []
  const start = performance.now()
  const violations: string[] = []
  while (performance.now() < start + durationMs || samples.length < samplesMin) {
    violations.push(...(await liveOneDay()))
    const elapsed = performance.now() - start
    if (elapsed < (samples.length * durationMs) / samplesMin && !isQuick) continue
    const { rssBytes, heapBytes } = await server.report()
    samples.push({ hours: elapsed / 3_600_000, rounds, rssBytes, heapBytes })
  }
  const after = await server.report()
  for (const [what, count] of Object.entries(after.held)) {
    const was = before.held[what] ?? 0
    if (count - was > slack) violations.push(`${what}: ${was} before, ${count} after ${rounds} rounds`)
  }
  return { figures: { rounds, samples, before, after }, rows: rowsOf(samples, before, after, rounds), violations }
}

function at(handles: readonly SessionHandle[], round: number): SessionHandle {
  const handle = handles[round % handles.length]
  invariant(handle, 'there are sessions')
  return handle
}

async function liveWith(
  server: LoadServer,
  crowd: Crowd,
  handle: SessionHandle,
  viewers: number,
): Promise<readonly string[]> {
  await crowd.open(server.target(eventsPath(handle, '?after=0')), viewers)
  await (await say(handle, { words: 100, bytes: 40, rate: 0 }))()
  await crowd.drop()
  const head = await (await say(handle, { words: 100, bytes: 40, rate: 0 }))()
  const back = await crowd.reopen(head)
  orThrow(await handle.submit({ type: 'rename', title: 'a day' }))
  orThrow(await server.sessions.list({ limit: 50 }))
  await crowd.drop()
  orThrow(await server.sessions.stop(handle.id))
  return back.missed > 0 ? [`${back.missed} gaps after a return`] : []
}

type Sample = {
  readonly hours: number
  readonly rounds: number
  readonly rssBytes: number
  readonly heapBytes: number
}

/** Returns the slope of the line through the points, by least squares. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length
  const [x, y] = [mean(points.map(([one]) => one)), mean(points.map(([, one]) => one))]
  const above = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  return above / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
}

function rowsOf(samples: readonly Sample[], before: ServerReport, after: ServerReport, rounds: number): readonly Row[] {
  const slope = (of: 'heapBytes' | 'rssBytes') =>
    (100 * slopeOf(samples.map((one) => [one.hours, one[of]]))) / (samples[0]?.[of] ?? Number.NaN)
  const [heap, rss] = [slope('heapBytes'), slope('rssBytes')]
  const held = Object.entries(after.held).map(([what, count]) => [what, count - (before.held[what] ?? 0)] as const)
  const minutes = (samples.at(-1)?.hours ?? 0) * 60
  return [
    {
      what: `soak of ${number(minutes, 1)} minutes, ${number(rounds)} rounds: memory in use`,
      figure: `${number(heap, 2)} % an hour, ${megabytes(before.heapBytes)} then ${megabytes(after.heapBytes)}`,
      goal: '< 1 % an hour',
      holds: heap < 1,
    },
    {
      what: 'resident memory',
      figure: `${number(rss, 2)} % an hour, ${megabytes(before.rssBytes)} then ${megabytes(after.rssBytes)}`,
      goal: '< 1 % an hour',
      holds: rss < 1,
    },
    {
      what: 'descriptors, timers, listeners, streams',
      figure: held.map(([what, count]) => `${what} ${number(count)}`).join(', '),
      goal: 'none more',
      holds: held.every(([, count]) => count <= slack),
    },
  ]
}
