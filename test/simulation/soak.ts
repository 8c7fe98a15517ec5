import { runDecisionSeed } from './decision-run.ts'
import { runSessionModelSeed } from './model/run-seed.ts'
import { runRequestsSeed } from './requests/run-seed.ts'
import { replay, soak } from './runs.ts'
import { runSessionSeed } from './session-run.ts'

/** Every suite that needs nothing but memory, seed after seed, until the time is up or one fails. */
const suites: readonly { readonly file: string; readonly live: (seed: number) => void | Promise<void> }[] = [
  { file: 'session-model', live: runSessionModelSeed },
  { file: 'requests', live: runRequestsSeed },
  { file: 'session', live: (seed) => runSessionSeed(seed, 'named') },
  { file: 'decision', live: runDecisionSeed },
]

const until = performance.now() + soak.minutes * 60_000
let seed = soak.firstSeed
console.log(`from SEED=${seed}, for ${soak.minutes} minutes`)
let tellAt = performance.now() + 60_000

for (; performance.now() < until; seed++) {
  for (const { file, live } of suites) {
    try {
      await live(seed)
    } catch (cause) {
      console.error(`${replay(seed, file)}\n${cause instanceof Error ? cause.stack : cause}`)
      process.exit(1)
    }
  }
  if (performance.now() < tellAt) continue
  console.log(`${seed - soak.firstSeed + 1} seeds of each suite, none fails`)
  tellAt += 60_000
}
console.log(`done: ${seed - soak.firstSeed} seeds of each suite, none fails`)
