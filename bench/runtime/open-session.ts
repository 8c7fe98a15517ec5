import { join } from 'node:path'
import { createLocalSession, createSessionRegistry, type NodeDeps } from '@holdfast/core'
import { ok, type SessionId } from '@holdfast/protocol'
import { fakeFiles, fakePermissions, modelsWith } from '@holdfast/testkit'
import { readWindow } from '../../packages/core/src/runtime/log/read-window.ts'
import { createMemoryBlobs } from '../../packages/holdfast/src/store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../packages/holdfast/src/store/memory/memory-store.ts'
import { openSqliteStore } from '../../packages/holdfast/src/store/sqlite/sqlite-store.ts'
import { resolveWorkdir } from '../../packages/holdfast/src/system/files/resolve-path.ts'
import { newHandle, newSessionId } from '../../packages/holdfast/src/system/identity.ts'
import { wallClock } from '../../packages/holdfast/src/system/wall-clock.ts'
import { writeLongSession } from '../fixtures/long-session.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { number, type Row } from '../table.ts'

const lengths = [10, 1_000, 10_000] as const

export type OpenFigures = {
  /** From not loaded to ready for a prompt, with the newest page read, in milliseconds. */
  readonly openMs: { readonly [messages: number]: number }
  /** Time to read the model's window from the store, in milliseconds. */
  readonly windowMs: { readonly [messages: number]: number }
  readonly longestToShortest: number
  /** Size of the state of an open session, as JSON. */
  readonly stateBytes: { readonly [messages: number]: number }
}

/** Measures opening a session, by the length of its history before the last checkpoint. */
async function benchOpen({ dir, rounds }: { readonly dir: string; readonly rounds: number }): Promise<OpenFigures> {
  const opened = await openSqliteStore({ path: join(dir, 'open.db') })
  if (!opened.ok) throw new Error(opened.fault.message)
  const store = opened.value
  const node = { id: 'node_bench', address: '', startedAt: new Date().toISOString() }
  const parts: NodeDeps = {
    store,
    blobs: createMemoryBlobs(),
    memoryStore: createMemoryStore(),
    memoryBlobs: createMemoryBlobs(),
    images: { fit: async (bytes, mediaType) => ({ bytes, mediaType }) },
    models: modelsWith(() => ({ type: 'unknown_model', message: 'a bench calls no model' })),
    tools: { all: [], find: () => null, endLeftover: async () => undefined },
    instructions: { gather: async () => '', list: async () => [] },
    files: fakeFiles,
    permissions: fakePermissions,
    summaryFiles: { save: async () => ok('') },
    clock: wallClock,
    onProblem: ({ cause }) => console.error(cause),
    node,
    isAlive: async () => false,
    newSessionId,
    newHandle,
    resolveWorkdir,
  }
  try {
    const sessions = new Map<number, SessionId>()
    for (const messages of lengths) {
      const id = await writeLongSession(store, dir, messages, messages)
      sessions.set(messages, id)
      const first = createSessionRegistry(parts)
      await first.load(id) // unloading saves a snapshot
      await first.unload(id)
    }
    const times = new Map<number, number[]>(lengths.map((messages) => [messages, []]))
    const windows = new Map<number, number[]>(lengths.map((messages) => [messages, []]))
    const stateBytes: Record<number, number> = {}
    for (let round = 0; round < rounds * 4; round++) {
      for (const [messages, id] of sessions) {
        const registry = createSessionRegistry(parts)
        const start = performance.now()
        const runner = await registry.load(id)
        const page = await createLocalSession(registry, id).page({ limit: 10 })
        times.get(messages)?.push(performance.now() - start)
        if (!runner.ok || !page.ok) throw new Error('the session does not open')
        const { state } = runner.value.folded()
        const reading = performance.now()
        await readWindow(store, id, state)
        windows.get(messages)?.push(performance.now() - reading)
        stateBytes[messages] = JSON.stringify(runner.value.folded()).length
        await registry.unload(id)
      }
    }
    const openMs = medians(times)
    return {
      openMs,
      windowMs: medians(windows),
      longestToShortest: (openMs[10_000] ?? Number.NaN) / (openMs[10] ?? Number.NaN),
      stateBytes,
    }
  } finally {
    await store.close()
  }
}

const medians = (samples: ReadonlyMap<number, readonly number[]>) =>
  Object.fromEntries([...samples].map(([messages, values]) => [messages, median(values)]))

/** Returns a row for each figure, beside its goal. */
export const measureOpenSession: Measurement = async ({ dir, rounds }) => {
  const figures = await benchOpen({ dir, rounds })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: OpenFigures): readonly Row[] => [
  ...lengths.map(
    (messages): Row => ({
      what: `open a session of ${number(messages)} messages`,
      figure: `${number(figures.openMs[messages] ?? Number.NaN, 2)} ms, window ${number(figures.windowMs[messages] ?? Number.NaN, 2)} ms, state ${number(figures.stateBytes[messages] ?? Number.NaN)} bytes`,
      goal: messages === 10_000 ? '≤ 2 × that of 10' : '',
      holds: messages === 10_000 ? figures.longestToShortest <= 2 : null,
    }),
  ),
]
