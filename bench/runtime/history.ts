import { join } from 'node:path'
import { createLocalSession, createSessionRegistry, type NodeDeps, type SessionRegistry } from '@holdfast/core'
import type { Blobs, Provider, Store } from '@holdfast/core/ports'
import { createRequestBuilder } from '@holdfast/core/requests'
import { ok, orThrow, type SessionId, TurnNumber } from '@holdfast/protocol'
import { aTool, fakeFiles, fakePermissions, modelsWith } from '@holdfast/testkit'
import { createRequestThread } from '../../packages/holdfast/src/context/requests/request-thread.ts'
import { openFileBlobs } from '../../packages/holdfast/src/store/blobs/file-blobs.ts'
import { createMemoryBlobs } from '../../packages/holdfast/src/store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../packages/holdfast/src/store/memory/memory-store.ts'
import { openSqliteStore } from '../../packages/holdfast/src/store/sqlite/sqlite-store.ts'
import { resolveWorkdir } from '../../packages/holdfast/src/system/files/resolve-path.ts'
import { newHandle, newSessionId } from '../../packages/holdfast/src/system/identity.ts'
import { wallClock } from '../../packages/holdfast/src/system/wall-clock.ts'
import { writeLongSession } from '../fixtures/long-session.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { kilobytes, number, type Row } from '../table.ts'
import { countStore } from './count-store.ts'

const lengths = [100, 1_000, 20_000] as const
const forkedMessages = 10_000
const steps = 50
const callsPerStep = 4
/** An early turn. None of its records are in memory. */
const earlyTurn = TurnNumber.parse(7)

export type HistoryFigures = {
  /** Duration of one step of a turn with 200 calls, by the number of messages before it. */
  readonly stepMs: { readonly [messages: number]: number }
  readonly slowestToFastest: number
  readonly branchMs: number
  readonly switchMs: number
  /** Bytes that a fork of 10,000 messages writes to the store. */
  readonly forkBytes: number
  /** Records read to load a session of 10,000 messages and run a turn, and how many of them are before its checkpoint. */
  readonly resumedRows: number
  readonly rowsBefore: number
}

/** Measures how a step, a branch, a fork and a wake depend on the length of the history. */
async function benchHistory({
  dir,
  rounds,
}: {
  readonly dir: string
  readonly rounds: number
}): Promise<HistoryFigures> {
  const path = join(dir, 'history.db')
  const blobsDir = `${path}.blobs`
  const store = orThrow(await openSqliteStore({ path }))
  const blobs = orThrow(await openFileBlobs(blobsDir))
  const here = createRequestBuilder(store, blobs)
  const requests = createRequestThread({ source: { path, blobsDir }, here, onProblem })
  try {
    const write = (messages: number, number: number) => writeLongSession(store, dir, messages, number)
    const sessions = new Map<number, SessionId>()
    for (const messages of lengths) sessions.set(messages, await write(messages, messages))
    const runtime = createRuntime({ store, blobs, requests })
    const stepMs = await timeSteps(runtime, sessions, rounds)
    const longest = sessions.get(20_000)
    if (longest === undefined) throw new Error('the session of 20,000 messages is missing')
    const moves = await timeMoves(runtime, longest, rounds * 4)
    await runtime.registry.close()
    return {
      stepMs,
      slowestToFastest: Math.max(...Object.values(stepMs)) / Math.min(...Object.values(stepMs)),
      ...moves,
      ...(await countRows(store, blobs, await write(forkedMessages, forkedMessages))),
    }
  } finally {
    await requests.close()
    await store.close()
  }
}

/** Times a step after each length in turn, so that other load affects all lengths. The first round is not counted. */
async function timeSteps(runtime: Runtime, sessions: ReadonlyMap<number, SessionId>, rounds: number) {
  const times = new Map<number, number[]>(lengths.map((messages) => [messages, []]))
  for (let round = -1; round < rounds; round++) {
    for (const [messages, id] of sessions) {
      const start = performance.now()
      await runtime.runTurn(id, steps)
      if (round >= 0) times.get(messages)?.push((performance.now() - start) / (steps + 1))
      // Rewind, so that every turn starts with the same line.
      const turn = TurnNumber.parse(messages / 2 - 1)
      orThrow(await createLocalSession(runtime.registry, id).submit({ type: 'rewind', turn }))
    }
  }
  return Object.fromEntries([...times].map(([messages, values]) => [messages, median(values)]))
}

async function timeMoves({ registry }: Runtime, id: SessionId, rounds: number) {
  const handle = createLocalSession(registry, id)
  const branches: number[] = []
  const switches: number[] = []
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    const { result } = orThrow(await handle.submit({ type: 'branchAt', turn: earlyTurn }))
    const branched = performance.now()
    orThrow(await handle.submit({ type: 'switchBranch', branch: String(result['branch']) }))
    branches.push(branched - start)
    switches.push(performance.now() - branched)
  }
  return { branchMs: median(branches), switchMs: median(switches) }
}

/** Counts the records read. Runs without the request thread, which would read past the counter. */
async function countRows(disk: Store, blobs: Blobs, id: SessionId) {
  const { store, count } = countStore(disk)
  const first = createRuntime({ store, blobs })
  const handle = createLocalSession(first.registry, id)
  orThrow(await first.registry.load(id))
  count.written = 0
  orThrow(await handle.submit({ type: 'fork' }))
  const forkBytes = count.written
  await first.registry.close() // unloading saves a snapshot

  count.read.length = 0
  const second = createRuntime({ store, blobs })
  await second.runTurn(id, 0)
  const runner = orThrow(await second.registry.load(id))
  const checkpoint = runner.folded().state.checkpoints.at(-1)
  await second.registry.close()
  if (checkpoint === undefined) throw new Error('the session has no checkpoint')
  const from = Math.min(checkpoint.seq, checkpoint.keepFrom)
  return { forkBytes, resumedRows: count.read.length, rowsBefore: count.read.filter((seq) => seq < from).length }
}

type Runtime = { readonly registry: SessionRegistry; runTurn(id: SessionId, steps: number): Promise<void> }

/** Creates the real runtime with a model and a tool that take no time. */
function createRuntime(storage: Pick<NodeDeps, 'store' | 'blobs' | 'requests'>): Runtime {
  let stepsLeft = 0
  const look = aTool(
    'look',
    async (_, __, { begin }) => {
      await begin()
      return { type: 'ok', output: { text: 'The tide turns and the harbour holds what the sea would take.' } }
    },
    false,
  )
  const provider: Provider = {
    async *stream() {
      const calls = stepsLeft > 0 ? callsPerStep : 0
      stepsLeft -= 1
      for (let part = 0; part < calls; part++)
        yield { type: 'said', part, said: { type: 'call', tool: 'look', args: { at: part } } }
      if (calls === 0) yield { type: 'said', part: 0, said: { type: 'text', text: 'Done.' } }
      const usage = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, cost: 0 }
      yield { type: 'end', end: { type: 'complete', finish: calls > 0 ? 'calls' : 'stop', usage } }
    },
  }
  const registry = createSessionRegistry({
    ...storage,
    memoryStore: createMemoryStore(),
    memoryBlobs: createMemoryBlobs(),
    images: { fit: async (bytes, mediaType) => ({ bytes, mediaType }) },
    models: modelsWith(() => ({ type: 'ready', provider, contextTokens: 10_000_000 })),
    tools: { all: [look], find: () => look, endLeftover: async () => undefined },
    instructions: { gather: async () => 'Be kind.', list: async () => [] },
    files: fakeFiles,
    permissions: fakePermissions,
    summaryFiles: { save: async () => ok('') },
    clock: wallClock,
    onProblem,
    node: { id: 'node_bench', address: '', startedAt: new Date().toISOString() },
    isAlive: async () => false,
    newSessionId,
    newHandle,
    resolveWorkdir,
  })
  return {
    registry,
    async runTurn(id, count) {
      stepsLeft = count
      const handle = createLocalSession(registry, id)
      const { seq } = orThrow(await handle.submit({ type: 'sendPrompt', content: [{ type: 'text', text: 'Look.' }] }))
      for await (const frame of handle.subscribe({ after: seq })) {
        if (frame.type !== 'record' || frame.record.event.type !== 'turn.ended') continue
        if (frame.record.event.reason !== 'done') throw new Error(JSON.stringify(frame.record.event))
        return
      }
    },
  }
}

const onProblem: NodeDeps['onProblem'] = ({ cause }) => console.error(cause)

/** Returns a row for each figure, beside its goal. */
export const measureHistory: Measurement = async ({ dir, rounds }) => {
  const figures = await benchHistory({ dir, rounds })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: HistoryFigures): readonly Row[] => [
  {
    what: 'a step after 100, 1,000, 20,000 messages',
    figure: `${Object.values(figures.stepMs)
      .map((stepMs) => number(stepMs, 1))
      .join(', ')} ms = ${number(figures.slowestToFastest, 2)} ×`,
    goal: '≤ 1.5 ×',
    holds: figures.slowestToFastest <= 1.5,
  },
  {
    what: 'branch and switch, 20,000 messages',
    figure: `${number(figures.branchMs, 1)} ms and ${number(figures.switchMs, 1)} ms`,
    goal: '< 20 ms each',
    holds: Math.max(figures.branchMs, figures.switchMs) < 20,
  },
  {
    what: 'a fork of 10,000 messages writes',
    figure: kilobytes(figures.forkBytes),
    goal: '< 10 KB',
    holds: figures.forkBytes < 10 * 1024,
  },
  {
    what: 'resume a session of 10,000 messages and prompt',
    figure: `${number(figures.resumedRows)} records read, ${number(figures.rowsBefore)} from before its checkpoint`,
    goal: '0 before it',
    holds: figures.rowsBefore === 0,
  },
]
