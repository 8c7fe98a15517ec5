import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { orThrow, type SessionId, TurnNumber } from '@holdfast/protocol'
import { openSqliteStore } from '../../packages/holdfast/src/store/sqlite/sqlite-store.ts'
import { writeLongSession } from '../fixtures/long-session.ts'
import { number, type Row } from '../table.ts'
import { eventsPath, type LoadServer, startLoadServer } from './parts/load-server.ts'
import { describe, megabytes, type Percentiles, percentilesOf } from './parts/percentiles.ts'
import { openViewer } from './parts/viewer.ts'
import type { Scenario } from './scenario.ts'

/** The records of two messages of the fixture take this many bytes. */
const bytesPerTurn = 1800
const earlyTurn = TurnNumber.parse(3)

/** Sessions with long logs are opened by a server that has not loaded them, and changed. */
export const resumeLongLogs: Scenario = async ({ dir, isQuick }) => {
  const rounds = isQuick ? 1 : 10
  const sizes = isQuick ? [1, 2] : [10, 100]
  const entries = isQuick ? 200 : 50_000
  const home = join(dir, 'home')
  await mkdir(join(home, 'data'), { recursive: true, mode: 0o700 })
  const store = orThrow(await openSqliteStore({ path: join(home, 'data/holdfast.db') }))
  const written: { readonly id: SessionId; readonly megabytes: number }[] = []
  for (const [index, size] of sizes.entries()) {
    const messages = 2 * Math.ceil((size * 1024 ** 2) / bytesPerTurn)
    written.push({ id: await writeLongSession(store, '/', messages, index), megabytes: size })
  }
  const tree = await writeLongSession(store, '/', entries, sizes.length)
  const short = await writeLongSession(store, '/', 2, sizes.length + 1)
  await store.close()
  await using server = await startLoadServer(dir, { home })
  const first = await timeResume(server, short, 1) // also loads the code that answers
  const resumed = []
  for (const one of written) resumed.push({ ...one, times: await timeResume(server, one.id, rounds) })
  const { loadMs, moves } = await timeMoves(server, tree, rounds)
  const { size } = await stat(join(home, 'data/holdfast.db'))
  const rows: Row[] = resumed.map(({ megabytes, times }) => ({
    what: `open a session with a log of ${megabytes} MB`,
    figure: describe(times),
    goal: megabytes > 10 ? 'p99 ≤ 3 s' : 'p99 ≤ 300 ms',
    holds: times.p99 <= (megabytes > 10 ? 3000 : 300),
  }))
  rows.push({
    what: 'the first request of the server: open a short session',
    figure: `${number(first.p99)} ms`,
    goal: '',
    holds: null,
  })
  rows.push({ what: `open ${number(entries)} messages`, figure: `${number(loadMs)} ms`, goal: '', holds: null })
  rows.push({
    what: `branch and switch in ${number(entries)} messages`,
    figure: `${describe(moves)} ; the store has ${megabytes(size)}`,
    goal: 'p99 ≤ 100 ms',
    holds: moves.p99 <= 100,
  })
  return { figures: { first, resumed, loadMs, moves, storeBytes: size }, rows, violations: [] }
}

/** Follows a session that is not loaded, waits for its snapshot, and unloads it. Its log has no stored state the first time. */
async function timeResume(server: LoadServer, id: SessionId, rounds: number): Promise<Percentiles> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    const viewer = openViewer(server.target(eventsPath({ id })), () => undefined)
    await viewer.until(({ events }) => events.has('snapshot'))
    times.push(performance.now() - start)
    viewer.socket.destroy()
    orThrow(await server.sessions.stop(id))
  }
  return percentilesOf(times)
}

/** Loads a session, and then branches and switches back. */
async function timeMoves(server: LoadServer, id: SessionId, rounds: number) {
  const loadStart = performance.now()
  const viewer = openViewer(server.target(eventsPath({ id })), () => undefined)
  await viewer.until(({ events }) => events.has('snapshot'))
  const loadMs = performance.now() - loadStart
  const handle = orThrow(await server.sessions.open(id))
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    const { result } = orThrow(await handle.submit({ type: 'branchAt', turn: earlyTurn }))
    const branched = performance.now()
    orThrow(await handle.submit({ type: 'switchBranch', branch: String(result['branch']) }))
    times.push(branched - start, performance.now() - branched)
  }
  viewer.socket.destroy()
  return { loadMs, moves: percentilesOf(times) }
}
