import { parseArgs } from 'node:util'
import { type LoadRun, loadMeasurements } from './load/scenarios.ts'
import { chooseMeasurements, runMeasurements } from './run-measurements.ts'

// Runs the named scenarios, or all, and prints each figure beside its goal.
const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean' }, quick: { type: 'boolean' }, minutes: { type: 'string', default: '3' } },
  allowPositionals: true,
})
const run: Omit<LoadRun, 'dir'> = { isQuick: values.quick ?? false, soakMinutes: Number(values.minutes) }
const chosen = chooseMeasurements(loadMeasurements(run), positionals)
if (chosen.ok && run.soakMinutes > 0) {
  const allMeasured = await runMeasurements(chosen.value, {
    rounds: 1,
    json: values.json ?? false,
    out: process.stdout,
  })
  process.exitCode = allMeasured ? 0 : 1
} else {
  process.stderr.write(chosen.ok ? '--minutes needs a number above 0.\n' : `${chosen.fault.message}\n`)
  process.exitCode = 2
}
