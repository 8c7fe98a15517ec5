import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { openSqliteStore } from '../../packages/holdfast/src/store/sqlite/sqlite-store.ts'
import { writeLongSession } from '../fixtures/long-session.ts'
import { kilobytes, number } from '../table.ts'
import { type LoadServer, say, startLoadServer } from './parts/load-server.ts'
import { describe, percentilesOf } from './parts/percentiles.ts'
import type { Scenario } from './scenario.ts'

const atOnce = 100

/** A server with many stored sessions starts, lists them, and loads and unloads some. */
export const keepManySessions: Scenario = async ({ dir, isQuick }) => {
  const [stored, loaded, lists] = isQuick ? [100, 20, 10] : [10_000, 500, 200]
  const home = join(dir, 'home')
  await fill(home, stored)
  await using server = await startLoadServer(dir, { home })
  const times: number[] = []
  for (let each = 0; each < lists; each++) {
    const start = performance.now()
    orThrow(await server.sessions.list({ limit: 50 }))
    times.push(performance.now() - start)
  }
  const list = percentilesOf(times)
  const memory = await measureSessions(server, loaded)
  const rows = [
    {
      what: `start of a server with ${number(stored)} sessions`,
      figure: `${number(server.startMs)} ms`,
      goal: '≤ 1 s',
      holds: server.startMs <= 1000,
    },
    {
      what: 'first page of them',
      figure: `${describe(list)}, first ${number(times[0] ?? 0)} ms`,
      goal: 'p99 ≤ 50 ms',
      holds: list.p99 <= 50,
    },
    {
      what: 'memory of an idle session, loaded',
      figure: kilobytes(memory.loadedBytes),
      goal: '≤ 2 MB',
      holds: memory.loadedBytes <= 2 * 1024 ** 2,
    },
    {
      what: 'memory of an idle session, unloaded',
      figure: kilobytes(memory.unloadedBytes),
      goal: '≤ 50 KB',
      holds: memory.unloadedBytes <= 50 * 1024,
    },
  ]
  return { figures: { stored, startMs: server.startMs, list, memory }, rows, violations: [] }
}

async function fill(home: string, stored: number): Promise<void> {
  await mkdir(join(home, 'data'), { recursive: true, mode: 0o700 })
  const store = orThrow(await openSqliteStore({ path: join(home, 'data/holdfast.db') }))
  for (let first = 0; first < stored; first += atOnce)
    await Promise.all(Array.from({ length: atOnce }, (_, index) => writeLongSession(store, '/', 4, first + index)))
  await store.close()
}

/** Runs a turn in each of many sessions, and unloads them. */
async function measureSessions(server: LoadServer, count: number) {
  const run = async () => {
    const handle = await server.start()
    await (await say(handle, { words: 50, bytes: 20, rate: 0 }))()
    return handle
  }
  const runAll = async (all: number) => {
    const handles = []
    for (let begun = 0; begun < all; begun += 20)
      handles.push(...(await Promise.all(Array.from({ length: Math.min(20, all - begun) }, run))))
    return handles
  }
  const unload = async (handles: Awaited<ReturnType<typeof runAll>>) => {
    for (const { id } of handles) orThrow(await server.sessions.stop(id))
    return server.report()
  }
  const before = await unload(await runAll(Math.ceil(count / 2))) // warm-up: memory that is needed once
  const handles = await runAll(count)
  const loaded = await server.report()
  const unloaded = await unload(handles)
  const each = (bytes: number) => (bytes - before.heapBytes) / count
  return { loadedBytes: each(loaded.heapBytes), unloadedBytes: each(unloaded.heapBytes) }
}
