import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextLoop } from 'node:timers/promises'
import type { Provider } from '@holdfast/core/ports'
import { openHoldfast, type Session } from '../packages/holdfast/src/entry/index.ts'
import { number, printRows, type Row } from './table.ts'

const manyTurns = 8000
const turnsPerSample = 1000
/** The model counts so many tokens for each turn since the last summary, so that a session is compacted now and then. */
const tokensPerTurn = 500
const turnsPerSession = 10
const atOnce = 20
/** A session that was unloaded may keep 2 KB, which is 200 bytes for each of its turns here. */
const bytesPerTurnMax = 200

type HeapSample = {
  /** How many turns had ended. */
  readonly turns: number
  /** The heap and the memory outside of it after garbage collection, on the main thread. */
  readonly heapBytes: number
  /** The memory of the whole process with all its threads, as the system counts it. */
  readonly residentBytes: number
}

/** Returns how many bytes each turn after the first 1,000 added: the slope of a straight line through the samples. */
function bytesPerTurn(samples: readonly HeapSample[]): number {
  const later = samples.filter(({ turns }) => turns >= turnsPerSample)
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const turns = mean(later.map((sample) => sample.turns))
  const bytes = mean(later.map((sample) => sample.heapBytes))
  const shared = later.map((sample) => (sample.turns - turns) * (sample.heapBytes - bytes))
  return mean(shared) / mean(later.map((sample) => (sample.turns - turns) ** 2))
}

/** Runs all turns in one session, then ten turns in each of many sessions, which are stopped after them. */
async function measure(dir: string) {
  await using holdfast = await openHoldfast({
    store: `sqlite:${join(dir, 'turns.db')}`,
    environment: { HOLDFAST_HOME: dir },
    models: { 'bench/model': createModel() },
  })
  const begin = () => holdfast.startSession({ workdir: dir, model: 'bench/model' })
  const session = await begin()
  const one = await sampleHeap(turnsPerSample, () => runTurns(session, turnsPerSample))
  const runSession = async () => {
    const short = await begin()
    await runTurns(short, turnsPerSession)
    await holdfast.stopSession(short.id)
  }
  const many = await sampleHeap(turnsPerSample, async () => {
    for (let turns = 0; turns < turnsPerSample; turns += atOnce * turnsPerSession)
      await Promise.all(Array.from({ length: atOnce }, runSession))
  })
  return { one, many }
}

async function sampleHeap(turnsPerStep: number, step: () => Promise<void>): Promise<readonly HeapSample[]> {
  const samples: HeapSample[] = []
  for (let turns = turnsPerStep; turns <= manyTurns; turns += turnsPerStep) {
    await step()
    samples.push({ turns, heapBytes: await heapInUse(), residentBytes: process.memoryUsage.rss() })
  }
  return samples
}

async function runTurns(session: Session, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await session.prompt(`Turn ${turn} of ${count}.`).text()
}

/** Creates a model that answers in a few words, and counts what it was asked since its last summary. */
function createModel(): Provider {
  return {
    async *stream({ purpose, messages }) {
      const text = purpose === 'summary' ? 'They took turns.' : `Answer to message ${messages.length}.`
      for (const word of text.split(' ')) yield { type: 'delta', part: 0, kind: 'text', text: `${word} ` }
      yield { type: 'said', part: 0, said: { type: 'text', text } }
      const usage = { input: messages.length * tokensPerTurn, output: 10, cacheRead: 0, cacheWrite: 0, cost: 0 }
      yield { type: 'end', end: { type: 'complete', finish: 'stop', usage } }
    },
  }
}

async function heapInUse(): Promise<number> {
  for (let pass = 0; pass < 4; pass++) {
    await nextLoop() // frees what is held only until the next loop iteration
    globalThis.gc?.()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const rowsOf = (what: string, samples: readonly HeapSample[]): readonly Row[] => [
  ...samples.map(({ turns, heapBytes, residentBytes }): Row => {
    const figure = `${number(heapBytes / 1e6, 1)} MB of ${number(residentBytes / 1e6, 1)} MB`
    return { what: `heap and resident memory after ${number(turns)} turns, ${what}`, figure, goal: '', holds: null }
  }),
  {
    what: `growth per turn, ${what}`,
    figure: `${number(bytesPerTurn(samples))} bytes`,
    goal: `< ${bytesPerTurnMax} bytes`,
    holds: bytesPerTurn(samples) < bytesPerTurnMax,
  },
]

// Measures the heap after garbage collection every 1,000 turns. Needs `--expose-gc`.
const dir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
try {
  const { one, many } = await measure(dir)
  printRows([...rowsOf('one session', one), ...rowsOf('many sessions', many)])
} finally {
  rmSync(dir, { recursive: true, force: true })
}
