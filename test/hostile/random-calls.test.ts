import { expect, it } from 'vitest'
import { runRandomCalls } from './random/run-calls.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1_000_000))
const calls = Number(process.env['FUZZ_CALLS'] ?? 250)

it(`refuses or runs ${calls} random calls of the built-in tools, and changes nothing beside the workdir (SEED=${seed})`, async () => {
  process.stdout.write(`random calls: SEED=${seed} repeats them\n`)
  const { called, worked, violations } = await runRandomCalls({ calls, seed })
  expect(violations).toEqual([])
  expect(called).toBe(calls)
  // The calls are worth something only if most tools do their work in some of them.
  expect(Object.keys(worked).length).toBeGreaterThan(12)
})
