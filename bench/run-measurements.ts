import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { didYouMean, fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { Measurements } from './measurement.ts'
import { formatRows } from './table.ts'

/** How to run measurements: `json` prints one object with all figures at the end. */
export type RunOptions = {
  readonly rounds: number
  readonly json: boolean
  readonly out: { write(text: string): unknown }
}

/** Returns the measurements with these names, in the order of `all`, or all of them without a name. */
export function chooseMeasurements(all: Measurements, names: readonly string[]): Result<Measurements> {
  const known = Object.keys(all)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const meant = didYouMean(unknown, known)
    return refuse(
      fault('bad_request', `There is no measurement "${unknown}".${meant} The names are: ${known.join(', ')}.`),
    )
  }
  return ok(Object.fromEntries(Object.entries(all).filter(([name]) => names.length === 0 || names.includes(name))))
}

/**
 * Runs measurements one after the other, each in a folder of its own, and prints the rows of each when it ends. One that
 * fails is reported, and the others still run. Resolves with false if one failed.
 */
export async function runMeasurements(measurements: Measurements, { rounds, json, out }: RunOptions): Promise<boolean> {
  const results: { [name: string]: unknown } = {}
  let allMeasured = true
  for (const [name, measure] of Object.entries(measurements)) {
    if (!json) out.write(`${name}\n`)
    const dir = await mkdtemp(join(tmpdir(), `holdfast-bench-${name}-`))
    try {
      const { figures, rows } = await measure({ dir, rounds })
      results[name] = figures
      if (!json) out.write(formatRows(rows, '  '))
    } catch (cause) {
      allMeasured = false
      const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
      results[name] = { failed: reason }
      if (!json) out.write(`  FAILED: ${reason}\n`)
    } finally {
      await removeDir(dir)
    }
  }
  if (json) out.write(`${JSON.stringify(results, null, 2)}\n`)
  return allMeasured
}

/** Removes a folder. A failure is reported and is none of the measurement, whose figures are kept. */
async function removeDir(dir: string): Promise<void> {
  try {
    await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  } catch (cause) {
    process.stderr.write(`Cannot remove ${dir}. Remove it by hand. ${cause}\n`)
  }
}
