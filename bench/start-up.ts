import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { openSqliteStore } from '../packages/holdfast/src/store/sqlite/sqlite-store.ts'
import { writeLongSession } from './fixtures/long-session.ts'
import { median } from './median.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..')
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
export async function benchStartUp({ rounds }: { readonly rounds: number }): Promise<StartUpFigures> {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  const env = { ...process.env, HOLDFAST_HOME: home }
  try {
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
  } finally {
    await rm(home, { recursive: true, force: true })
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
    const ended = new Promise((done) => child.once('exit', done))
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    await ended
    while ((await findServer(home)) !== null) await delay(5)
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
