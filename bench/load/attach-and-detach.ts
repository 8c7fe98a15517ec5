import { number, type Row } from '../table.ts'
import { startCrowd } from './parts/crowd.ts'
import { eventsPath, type LoadServer, type ServerReport, say, startLoadServer } from './parts/load-server.ts'
import { megabytes } from './parts/percentiles.ts'
import type { Scenario } from './scenario.ts'

/** What V8 and the system may keep: compiled code, caches of the store, a connection that is just closing. */
const slack = { heapBytes: 1024 ** 2, each: 5 }

/** Viewers come and go, with and without a name. Nothing of them may remain. */
export const attachAndDetach: Scenario = async ({ dir, isQuick }) => {
  const [cycles, atOnce] = isQuick ? [200, 20] : [10_000, 50]
  await using server = await startLoadServer(dir)
  await using crowd = startCrowd()
  const handle = await server.start()
  const finished = await say(handle, { words: 50, bytes: 60, rate: 0 })
  await finished()
  const nameless = server.target(eventsPath(handle))
  const named = server.target(eventsPath(handle, '?attachment=viewer-{n}'))
  const cycle = async (count: number) => {
    await crowd.cycle(nameless, count / 2, atOnce)
    await crowd.cycle(named, count / 2, atOnce)
  }
  await cycle(isQuick ? 100 : 1000) // warm-up: compiles code, grows buffers
  const before = await restingReport(server)
  const startMs = performance.now()
  await cycle(cycles)
  const seconds = (performance.now() - startMs) / 1000
  const after = await restingReport(server)
  const grown = Object.entries(after.held).map(([what, count]) => [what, before.held[what] ?? 0, count] as const)
  const violations = grown.flatMap(([what, was, is]) =>
    is - was > slack.each ? [`${what}: ${was} before, ${is} after ${cycles} viewers came and went`] : [],
  )
  return { figures: { cycles, seconds, before, after }, rows: rowsOf(cycles, seconds, before, after), violations }
}

/** Waits until the server has noticed that all viewers left. */
async function restingReport(server: LoadServer): Promise<ServerReport> {
  for (let left = 50; left > 0 && (await server.look()).connections > 3; left--)
    await new Promise((resolve) => setTimeout(resolve, 100))
  return server.report()
}

function rowsOf(cycles: number, seconds: number, before: ServerReport, after: ServerReport): readonly Row[] {
  const heap = after.heapBytes - before.heapBytes
  const held = Object.entries(after.held)
  const isSame = held.every(([what, count]) => count - (before.held[what] ?? 0) <= slack.each)
  return [
    {
      what: `${number(cycles)} viewers came and went`,
      figure: `${number(cycles / seconds)} /s, memory ${megabytes(heap)}, resident ${megabytes(after.rssBytes - before.rssBytes)}`,
      goal: 'memory < 1 MB more',
      holds: heap < slack.heapBytes,
    },
    {
      what: 'descriptors, timers, listeners, streams',
      figure: held.map(([what, count]) => `${what} ${number(count - (before.held[what] ?? 0))}`).join(', '),
      goal: 'none more',
      holds: isSame,
    },
  ]
}
