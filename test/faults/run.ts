import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDice } from '@holdfast/testkit'
import { lackFor } from './machine.ts'
import type { Row, RowResult } from './row.ts'
import { rows } from './runs/rows.ts'

/**
 * `npm run test:faults` runs the rows of the fault matrix that `npm test` cannot run everywhere. Prints one line for each
 * row and a summary. `-- D3 D9` runs only these, `-- --quick` uses small counts, `SEED=27` repeats the random choices.
 */
const asked = process.argv.slice(2)
const isQuick = asked.includes('--quick')
const names = asked.filter((word) => !word.startsWith('--'))
const unknown = names.filter((name) => !rows.some((row) => row.name === name))
if (unknown.length > 0) {
  console.error(`There is no row ${unknown.join(', ')}; there are ${rows.map(({ name }) => name).join(', ')}.`)
  process.exit(1)
}

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const chosen = names.length === 0 ? rows : rows.filter(({ name }) => names.includes(name))
console.log(`fault matrix: ${chosen.length} rows, SEED=${seed}${isQuick ? ', quick' : ''}`)
let [ran, notRun, violated] = [0, 0, 0]

for (const row of chosen) {
  const lack = lackFor(row.needs)
  if (lack !== null) {
    notRun += 1
    console.log(`NOT RUN: ${row.name}: ${lack}`)
    continue
  }
  const sinceMs = performance.now()
  const { did, violations } = await live(row)
  ran += 1
  violated += violations.length
  const seconds = ((performance.now() - sinceMs) / 1000).toFixed(0)
  console.log(`${violations.length === 0 ? 'ok' : 'VIOLATED'}: ${row.name} ${row.fault}: ${did} (${seconds} s)`)
  for (const violation of violations.slice(0, 20)) console.log(`  ${violation}`)
}
console.log(`ran ${ran}, not run ${notRun}, violations ${violated} (SEED=${seed})`)
process.exit(violated === 0 ? 0 : 1)

/** A row that fails to run is a violation too, so that it never counts as passed. */
async function live(row: Row): Promise<RowResult> {
  const home = mkdtempSync(join(tmpdir(), `holdfast-${row.name}-`))
  try {
    return await row.run({ isQuick, dice: createDice(seed), home })
  } catch (cause) {
    return { did: 'aborted', violations: [cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)] }
  } finally {
    await rm(home, { recursive: true, force: true }).catch((cause) => console.log(`left behind: ${home}: ${cause}`))
  }
}
