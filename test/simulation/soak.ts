import { runClusterSeed } from './cluster/run-seed.ts'
import { runDecisionSeed } from './decision-run.ts'
import { runSessionModelSeed } from './model/run-seed.ts'
import { runRequestsSeed } from './requests/run-seed.ts'
import { replay, soak } from './runs.ts'
import { runSessionSeed } from './session-run.ts'
import { runTreeSeed } from './subagent-run.ts'

/** Runs all in-memory suites, seed by seed, until the time is up or one fails. */
const suites: readonly { readonly file: string; readonly run: (seed: number) => void | Promise<void> }[] = [
  { file: 'session-model', run: runSessionModelSeed },
  { file: 'requests', run: runRequestsSeed },
  { file: 'session', run: (seed) => runSessionSeed(seed, 'named') },
  { file: 'session', run: (seed) => runSessionSeed(seed, 'hooked') },
  { file: 'subagents', run: (seed) => runTreeSeed(seed, seed % 2 === 0) },
  { file: 'decision', run: runDecisionSeed },
  { file: 'cluster', run: async (seed) => void (await runClusterSeed(seed)) },
]

const until = performance.now() + soak.minutes * 60_000
let seed = soak.firstSeed
console.log(`from SEED=${seed}, for ${soak.minutes} minutes`)
let printAt = performance.now() + 60_000

for (; performance.now() < until; seed++) {
  for (const { file, run } of suites) {
    try {
      await run(seed)
    } catch (cause) {
      console.error(`${replay(seed, file)}\n${cause instanceof Error ? cause.stack : cause}`)
      process.exit(1)
    }
  }
  if (performance.now() < printAt) continue
  console.log(`${seed - soak.firstSeed + 1} seeds of each suite, all passed`)
  printAt += 60_000
}
console.log(`done: ${seed - soak.firstSeed} seeds of each suite, all passed`)
