import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Measurement } from './measurement.ts'
import { chooseMeasurements, runMeasurements } from './run-measurements.ts'

const measured =
  (what: string): Measurement =>
  async () => ({ figures: { what }, rows: [{ what, figure: '1 ms', goal: '< 2 ms', holds: true }] })

const collect = () => {
  const written: string[] = []
  return { written, out: { write: (text: string) => void written.push(text) } }
}

describe('a run of measurements', () => {
  it('runs all without a name, and only the named ones otherwise', () => {
    const all = { abort: measured('abort'), import: measured('import'), search: measured('search') }
    expect(chooseMeasurements(all, [])).toEqual({ ok: true, value: all })
    const chosen = chooseMeasurements(all, ['search', 'abort'])
    expect(chosen.ok && Object.keys(chosen.value)).toEqual(['abort', 'search'])
  })

  it('refuses an unknown name and lists the names', () => {
    const chosen = chooseMeasurements({ abort: measured('abort'), import: measured('import') }, ['improt'])
    expect(chosen).toMatchObject({
      ok: false,
      fault: { message: `There is no measurement "improt". Did you mean 'import'? The names are: abort, import.` },
    })
  })

  it('prints the rows of a measurement before the next one starts', async () => {
    const { written, out } = collect()
    let before = ''
    const second: Measurement = async (place) => {
      before = written.join('')
      return measured('second')(place)
    }
    expect(await runMeasurements({ first: measured('first'), second }, { rounds: 1, json: false, out })).toBe(true)
    expect(before).toBe('first\n  first  1 ms  < 2 ms  holds\nsecond\n')
  })

  it('reports a measurement that fails, and measures the others', async () => {
    const { written, out } = collect()
    const broken: Measurement = async () => {
      throw new Error('a delta is missing')
    }
    const all = { first: measured('first'), broken, last: measured('last') }
    expect(await runMeasurements(all, { rounds: 1, json: false, out })).toBe(false)
    expect(written.join('')).toMatch(/first {2}1 ms.*broken\n {2}FAILED: Error: a delta is missing.*last {2}1 ms/s)
  })

  it('gives each measurement a folder of its own and removes it', async () => {
    const { written, out } = collect()
    const dirs: string[] = []
    const look: Measurement = async ({ dir }) => {
      dirs.push(dir)
      return { figures: { exists: existsSync(dir) }, rows: [] }
    }
    await runMeasurements({ one: look, two: look }, { rounds: 1, json: true, out })
    expect(JSON.parse(written.join(''))).toEqual({ one: { exists: true }, two: { exists: true } })
    expect(new Set(dirs).size).toBe(2)
    expect(dirs.map((dir) => existsSync(dir))).toEqual([false, false])
  })
})
