import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setImmediate as nextLoop } from 'node:timers/promises'
import { createLocalSession, createSessionRegistry, type SessionRegistry } from '@holdfast/core'
import type { Provider } from '@holdfast/core/ports'
import { limits, orThrow, type SessionId } from '@holdfast/protocol'
import { createVirtualClock, fakeFiles, fakePermissions, modelsOf } from '@holdfast/testkit'
import { createInstructions } from '../../packages/holdfast/src/context/instructions.ts'
import { createMemory } from '../../packages/holdfast/src/context/memory/memory.ts'
import { createSummaryFiles } from '../../packages/holdfast/src/context/summary-files.ts'
import { openFileBlobs } from '../../packages/holdfast/src/store/blobs/file-blobs.ts'
import { createMemoryBlobs } from '../../packages/holdfast/src/store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../packages/holdfast/src/store/memory/memory-store.ts'
import { openSqliteStore } from '../../packages/holdfast/src/store/sqlite/sqlite-store.ts'
import { resolveWorkdir } from '../../packages/holdfast/src/system/files/resolve-path.ts'
import { newHandle, newSessionId } from '../../packages/holdfast/src/system/identity.ts'
import { createTools } from '../../packages/holdfast/src/tools/tools.ts'
import type { Measurement } from '../measurement.ts'
import { kilobytes, type Row } from '../table.ts'

export const liveSessions = 1_000
const messages = 10
const messageBytes = 1024
/** Started and unloaded several times before measuring, so that memory needed only at the start is already freed. */
const warmSessions = 100
const warmCycles = 3
const atOnce = 50

export type LiveFigures = {
  /** Memory of an idle session while it is loaded. */
  readonly loadedBytes: number
  /** Memory that remains after it was unloaded. */
  readonly unloadedBytes: number
}

/** Runs the measurement in a child process with `--expose-gc`. */
async function benchLiveSessions(dir: string): Promise<LiveFigures> {
  const child = fork(import.meta.filename, [dir], { execArgv: ['--expose-gc'] })
  const exited = once(child, 'exit')
  const [figures] = await Promise.race([
    once(child, 'message'),
    exited.then(([code]) => Promise.reject(new Error(`the process with the sessions ended with ${code}`))),
  ])
  await exited
  return figures
}

/** Measures sessions that ran real turns on a real disk. Only the idle time is simulated, by a virtual clock. */
async function measure(dir: string): Promise<LiveFigures> {
  const store = orThrow(await openSqliteStore({ path: join(dir, 'live.db') }))
  const clock = createVirtualClock()
  const memory = createMemory({ userFile: join(dir, 'MEMORY.md'), now: clock.now })
  const registry = createSessionRegistry({
    store,
    blobs: orThrow(await openFileBlobs(join(dir, 'blobs'))),
    memoryStore: createMemoryStore(),
    memoryBlobs: createMemoryBlobs(),
    images: { fit: async (bytes, mediaType) => ({ bytes, mediaType }) },
    models: oneModel,
    tools: createTools({ environment: {}, memory }),
    instructions: createInstructions({
      now: clock.now,
      memory,
      permissions: fakePermissions,
      configDir: dir,
      userDir: dir,
    }),
    files: fakeFiles,
    permissions: fakePermissions,
    summaryFiles: createSummaryFiles({ now: clock.now }),
    clock,
    onProblem: ({ cause }) => console.error(cause),
    node: { id: 'node_bench', address: '', startedAt: new Date().toISOString() },
    isAlive: async () => false,
    newSessionId,
    newHandle,
    resolveWorkdir,
  })
  const unloadIdle = async () => {
    const stopped = allStopped(registry)
    clock.advance(limits.idleUnloadMs)
    await stopped
    await store.removeUnspoken([]) // waits until the writer has done all the work of unloading
  }
  try {
    for (let cycle = 0; cycle < warmCycles; cycle++) {
      await startMany(registry, dir, warmSessions)
      await unloadIdle()
      await bytesInUse()
    }
    const before = await bytesInUse()
    await startMany(registry, dir, liveSessions)
    const loaded = await bytesInUse()
    if (registry.all().length !== liveSessions) throw new Error(`${registry.all().length} sessions are loaded`)
    await unloadIdle()
    const unloaded = await bytesInUse()
    return { loadedBytes: (loaded - before) / liveSessions, unloadedBytes: (unloaded - before) / liveSessions }
  } finally {
    await registry.close()
    await store.close()
  }
}

/** Resolves when every session that is now loaded has been unloaded. */
async function allStopped(registry: SessionRegistry): Promise<void> {
  let left = registry.all().length
  for await (const { type } of registry.news.follow()) {
    if (type === 'session.stopped') left--
    if (left === 0) return
  }
}

async function startMany(registry: SessionRegistry, workdir: string, count: number): Promise<void> {
  for (let begun = 0; begun < count; begun += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, count - begun) }, () => startOne(registry, workdir)))
  }
}

async function startOne(registry: SessionRegistry, workdir: string): Promise<void> {
  const { id } = orThrow(await registry.start({ workdir }))
  for (let message = 0; message < messages; message += 2) await runTurn(registry, id, message)
}

async function runTurn(registry: SessionRegistry, id: SessionId, message: number): Promise<void> {
  const handle = createLocalSession(registry, id)
  const text = textOf(message)
  const { seq } = orThrow(await handle.submit({ type: 'sendPrompt', content: [{ type: 'text', text }] }))
  for await (const frame of handle.subscribe({ after: seq })) {
    if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return
  }
}

let textsMade = 0
/** Returns a different text each time: if messages shared one string, its memory would not be counted. */
const textOf = (message: number): string => `${textsMade++} ${message} `.padEnd(messageBytes, 'the tide turns ')

const provider: Provider = {
  async *stream() {
    const text = textOf(0)
    for (let at = 0; at < text.length; at += 16)
      yield { type: 'delta', part: 0, kind: 'text', text: text.slice(at, at + 16) }
    yield { type: 'said', part: 0, said: { type: 'text', text } }
    const usage = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, cost: 0 }
    yield { type: 'end', end: { type: 'complete', finish: 'stop', usage } }
  },
}
const oneModel = modelsOf(provider)

/** Returns the memory of the main thread, heap and external. The store's threads hold nothing per session. */
async function bytesInUse(): Promise<number> {
  for (let pass = 0; pass < 4; pass++) {
    await nextLoop() // frees what is held only until the next loop iteration
    globalThis.gc?.()
  }
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return heapUsed + external + arrayBuffers
}

/** Returns a row for each figure, beside its goal. */
export const measureLiveSessions: Measurement = async ({ dir }) => {
  const figures = await benchLiveSessions(dir)
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: LiveFigures): readonly Row[] => [
  {
    what: 'memory of an idle session, loaded',
    figure: kilobytes(figures.loadedBytes),
    goal: '< 60 KB',
    holds: figures.loadedBytes < 60 * 1024,
  },
  {
    what: 'memory of an idle session, unloaded',
    figure: kilobytes(figures.unloadedBytes),
    goal: '< 2 KB',
    holds: figures.unloadedBytes < 2 * 1024,
  },
]

if (import.meta.main) {
  const figures = await measure(process.argv[2] ?? '')
  process.send?.(figures, () => process.disconnect())
}
