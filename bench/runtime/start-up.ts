import { execFile, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { openSqliteStore } from '../../packages/holdfast/src/store/sqlite/sqlite-store.ts'
import { livingMembers } from '../../packages/holdfast/src/tools/program/process-group.ts'
import { writeLongSession } from '../fixtures/long-session.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { number, type Row } from '../table.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const bin = join(root, 'packages/holdfast/bin/holdfast.mjs')
const storedSessions = 10_000

export type StartUpFigures = {
  readonly nodeMs: number
  readonly versionMs: number
  /** `holdfast ls` on 10,000 stored sessions. */
  readonly lsMs: number
  readonly lsOverNodeMs: number
  /** From the start of `npm start` to the first answer of /v1/health. */
  readonly serveHealthMs: number
  /** The memory that only an idle server uses; null where the system does not tell. */
  readonly idleServerBytes: number | null
}

/** Measures whole processes, alternating, with warm caches. */
async function benchStartUp(home: string, rounds: number): Promise<StartUpFigures> {
  const env = { ...process.env, HOLDFAST_HOME: home }
  await fill(join(home, 'data/holdfast.db'))
  const samples = { node: [] as number[], version: [] as number[], ls: [] as number[], serve: [] as ServerFigures[] }
  for (let round = -1; round < rounds; round++) {
    const node = await timed(() => run(process.execPath, ['-e', '0']))
    const version = await timed(() => run(process.execPath, [bin, '--version'], { env }))
    const ls = await timed(() => run(process.execPath, [bin, 'ls', '--all', '--limit', '50'], { env }))
    const serve = await measureServer(env, home)
    if (round < 0) continue // the first round warms the caches
    samples.node.push(node)
    samples.version.push(version)
    samples.ls.push(ls)
    samples.serve.push(serve)
  }
  const nodeMs = median(samples.node)
  const lsMs = median(samples.ls)
  return {
    nodeMs,
    versionMs: median(samples.version),
    lsMs,
    lsOverNodeMs: lsMs - nodeMs,
    serveHealthMs: median(samples.serve.map(({ healthMs }) => healthMs)),
    idleServerBytes: medianOrNull(samples.serve.map(({ privateBytes }) => privateBytes)),
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

async function fill(path: string): Promise<void> {
  const opened = await openSqliteStore({ path })
  if (!opened.ok) throw new Error(opened.fault.message)
  const store = opened.value
  for (let first = 0; first < storedSessions; first += 500) {
    await Promise.all(Array.from({ length: 500 }, (_, index) => writeLongSession(store, '/', 4, first + index)))
  }
  await store.close()
}

type ServerFigures = { readonly healthMs: number; readonly privateBytes: number | null }

const medianOrNull = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : median(known)
}

/** A server counts as idle this long after its first answer. */
const settleMs = 2000

/** Runs `npm start` on a free port. */
async function measureServer(env: NodeJS.ProcessEnv, home: string): Promise<ServerFigures> {
  const start = performance.now()
  const child = spawn('npm', ['start', '--silent', '--', 'serve', '--port', '0'], {
    cwd: root,
    env,
    stdio: 'ignore',
    detached: true,
  })
  try {
    for (;;) {
      const server = await findServer(home)
      const answer = server && (await fetch(`${server.url}/v1/health`).catch(() => null))
      if (server && answer?.ok) {
        const healthMs = performance.now() - start
        await delay(settleMs)
        return { healthMs, privateBytes: await readPrivateBytes(server.pid) }
      }
      await delay(5)
    }
  } finally {
    if (child.pid !== undefined) {
      process.kill(-child.pid, 'SIGTERM')
      // npm ends before the server, which removes its state file before it closes its store.
      while ((await livingMembers(child.pid)).length > 0) await delay(5)
    }
  }
}

async function findServer(home: string): Promise<{ readonly url: string; readonly pid: number } | null> {
  try {
    return JSON.parse(await readFile(join(home, 'state/server.json'), 'utf8'))
  } catch {
    return null // missing or incomplete
  }
}

/** Reads the memory that a process shares with no other, on Linux. */
async function readPrivateBytes(pid: number): Promise<number | null> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => null)
  if (rollup === null) return null
  return [...rollup.matchAll(/^Private_\w+:\s+(\d+) kB$/gm)].reduce(
    (sum, [, kilobytes]) => sum + Number(kilobytes) * 1024,
    0,
  )
}

/** Returns a row for each figure, beside its goal. */
export const measureStartUp: Measurement = async ({ dir, rounds }) => {
  const figures = await benchStartUp(dir, rounds)
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: StartUpFigures): readonly Row[] => [
  { what: 'node -e 0', figure: `${number(figures.nodeMs)} ms`, goal: '', holds: null },
  { what: 'holdfast --version', figure: `${number(figures.versionMs)} ms`, goal: '', holds: null },
  {
    what: 'holdfast ls, 10,000 sessions',
    figure: `${number(figures.lsMs)} ms = node + ${number(figures.lsOverNodeMs)} ms`,
    goal: '≤ node + 150 ms',
    holds: figures.lsOverNodeMs <= 150,
  },
  {
    what: 'npm start answers health',
    figure: `${number(figures.serveHealthMs)} ms`,
    goal: '≤ 3,000 ms',
    holds: figures.serveHealthMs <= 3000,
  },
  {
    what: 'private memory of an idle server',
    figure: figures.idleServerBytes === null ? 'unknown' : `${number(figures.idleServerBytes / 1e6)} MB`,
    goal: '≤ 90 MB',
    holds: figures.idleServerBytes === null ? null : figures.idleServerBytes <= 90e6,
  },
]
