import { expect, it } from 'vitest'
import { runFuzz } from './fuzz/run-fuzz.ts'
import { walkTexts } from './fuzz/walk-texts.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1_000_000))
const requests = Number(process.env['FUZZ_REQUESTS'] ?? 400)

it(`answers ${requests} hostile requests without an internal error, and changes nothing for those it refuses (SEED=${seed})`, async () => {
  process.stdout.write(`hostile requests: SEED=${seed} repeats them\n`)
  const { sent, worked, tried, routes, statuses, violations } = await runFuzz({ requests, seed })
  expect(violations).toEqual([])
  expect(sent).toBe(requests)
  process.stdout.write(`${tried.size} of ${routes.length} routes were tried\n`)
  // The long form tries each route: test/hostile/run.ts reports a violation for one that it did not.
  expect(tried.size).toBeGreaterThan(requests >= 10_000 ? routes.length - 1 : routes.length / 2)
  // The requests are worth something only if many get past the access checks and the parser.
  expect(worked.size).toBeGreaterThan(15)
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '401', '403', '404']))
})

it('refuses a NUL in every path of a route, and has no internal error for one in any other text', async () => {
  const { sent, routes, violations } = await walkTexts({ isQuick: requests < 10_000 })
  expect(violations).toEqual([])
  expect(sent).toBeGreaterThan(300)
  expect(routes.size).toBeGreaterThan(40)
})
