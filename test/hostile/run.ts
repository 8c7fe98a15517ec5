import { createDice } from '@holdfast/testkit'
import { cases } from './cases.ts'
import { runFuzz } from './fuzz/run-fuzz.ts'
import { walkTexts } from './fuzz/walk-texts.ts'
import { runRandomCalls } from './random/run-calls.ts'
import { megabytes, runCase } from './run-case.ts'

/**
 * `npm run test:hostile` sends hostile input to real servers, one case after the other, and reports the longest stall of
 * the event loop, the peak of memory and everything lost. Then it calls the built-in tools with 10,000 random inputs, and
 * all routes with 10,000 random requests. `-- preview-bomb` runs only this case, `-- random-calls` or `-- routes` only the
 * random inputs or requests, `-- --quick` uses small inputs, `SEED=27` repeats the random choices.
 */
const asked = process.argv.slice(2)
const isQuick = asked.includes('--quick')
const names = asked.filter((word) => !word.startsWith('--'))
const [randomCalls, routes] = ['random-calls', 'routes']
const known = [...cases.map(({ name }) => name), randomCalls, routes]
const unknown = names.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`There is no case ${unknown.join(', ')}. The cases are ${known.join(', ')}.`)
  process.exit(1)
}

/** 50 ms is the design rule for both; the rest is garbage collection and noise. */
const times = { stallMsMax: 100, healthMsP99Max: isQuick ? Number.POSITIVE_INFINITY : 50 }
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const chosen = names.length === 0 ? cases : cases.filter(({ name }) => names.includes(name))
console.log(`hostile input: ${chosen.length} cases, SEED=${seed}${isQuick ? ', quick' : ''}`)
let [violated, longestMs, peakBytes] = [0, 0, 0]

for (const one of chosen) {
  const sinceMs = performance.now()
  const report = await runCase(one, { isQuick, dice: createDice(seed), ...times })
  const seconds = ((performance.now() - sinceMs) / 1000).toFixed(0)
  const verdict = report.violations.length === 0 ? 'ok' : 'VIOLATED'
  console.log(`${verdict}: ${one.from} ${one.name}: ${report.did} (${seconds} s)`)
  console.log(
    `  stall ${report.cpuMs.toFixed(0)} ms on the CPU, ${report.blockedMs.toFixed(0)} ms without waits for a CPU, ` +
      `${report.stallMs.toFixed(0)} ms on the clock; ` +
      `peak ${megabytes(report.peakBytes)}; health p99 ${report.health.msP99.toFixed(0)} ms of ${report.health.asked}`,
  )
  for (const violation of report.violations.slice(0, 20)) console.log(`  ${violation}`)
  violated += report.violations.length
  longestMs = Math.max(longestMs, report.cpuMs, report.blockedMs)
  peakBytes = Math.max(peakBytes, report.peakBytes)
}

if (names.length === 0 || names.includes(randomCalls)) {
  const { called, refused, violations } = await runRandomCalls({ calls: isQuick ? 250 : 10_000, seed })
  const verdict = violations.length === 0 ? 'ok' : 'VIOLATED'
  console.log(`${verdict}: model ${randomCalls}: ${called} random inputs for the built-in tools, ${refused} refused`)
  for (const violation of violations.slice(0, 20)) console.log(`  ${violation}`)
  violated += violations.length
}
if (names.length === 0 || names.includes(routes)) {
  const report = await runFuzz({ requests: isQuick ? 500 : 10_000, seed })
  const { sent, statuses, worked, tried } = report
  const untried = report.routes.filter((name) => !tried.has(name))
  const missed = isQuick || untried.length === 0 ? [] : [`no request was sent to ${untried.join(', ')}`]
  const walked = await walkTexts({ isQuick })
  const violations = [...report.violations, ...missed, ...walked.violations]
  const verdict = violations.length === 0 ? 'ok' : 'VIOLATED'
  console.log(
    `${verdict}: client ${routes}: ${sent} random requests to ${tried.size} of ${report.routes.length} routes, ${worked.size} did some work, ` +
      `${walked.sent} with texts that no path may have, ` +
      `statuses ${JSON.stringify(statuses)}`,
  )
  for (const violation of violations) console.log(`  ${violation}`)
  violated += violations.length
}
console.log(
  `longest stall ${longestMs.toFixed(0)} ms, peak ${megabytes(peakBytes)}, violations ${violated} (SEED=${seed})`,
)
process.exit(violated === 0 ? 0 : 1)
