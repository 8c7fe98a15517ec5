import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openHoldfast } from '../../packages/holdfast/src/entry/index.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { writeImportFiles } from '../store/import.ts'
import { number, type Row } from '../table.ts'

export type ImportFigures = {
  /** Imported bytes per second, by the size of the files. */
  readonly perSecond: Readonly<Record<ImportSize, number>>
  /** How long a request to the same process would wait meanwhile. */
  readonly loopDelayP99Ms: number
}

export type ImportSize = '3 KB' | '20 KB' | '8 MB'

/** About 100 MB of each: in the first second of an import, V8 still compiles the code of its thread. */
const sizes: readonly (readonly [ImportSize, bytes: number, count: number])[] = [
  ['3 KB', 3_000, 33_000],
  ['20 KB', 20_000, 5_000],
  ['8 MB', 8_000_000, 12],
]

/** Measures imports of small, middle and large files, and the delay of the event loop meanwhile. */
async function benchImport({ dir, rounds }: { readonly dir: string; readonly rounds: number }): Promise<ImportFigures> {
  const perSecond: Record<ImportSize, number> = { '3 KB': 0, '20 KB': 0, '8 MB': 0 }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  for (const [size, bytes, count] of sizes) {
    const from = await writeImportFiles(join(dir, `import-${bytes}`), count, bytes)
    const rates: number[] = []
    for (let round = 0; round < rounds; round++) {
      const environment = { HOLDFAST_HOME: join(dir, 'home') }
      await using holdfast = await openHoldfast({ store: `sqlite:${join(dir, `${bytes}-${round}.db`)}`, environment })
      delay.enable()
      const start = performance.now()
      const files = await holdfast.import(from)
      rates.push(files.reduce((sum, file) => sum + file.bytes, 0) / ((performance.now() - start) / 1000))
      delay.disable()
    }
    perSecond[size] = median(rates)
  }
  return { perSecond, loopDelayP99Ms: delay.percentile(99) / 1e6 }
}

/** Returns a row for each figure, beside its goal. */
export const measureImport: Measurement = async ({ dir }) => {
  const figures = await benchImport({ dir, rounds: 3 })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: ImportFigures): readonly Row[] => [
  ...sizes.map(
    ([size]): Row => ({
      what: `import of files of ${size}`,
      figure: `${number(figures.perSecond[size] / 1e6, 1)} MB/s`,
      goal: '≥ 20 MB/s',
      holds: figures.perSecond[size] >= 20e6,
    }),
  ),
  {
    what: 'event loop delay while importing, p99',
    figure: `${number(figures.loopDelayP99Ms, 2)} ms`,
    goal: '< 50 ms',
    holds: figures.loopDelayP99Ms < 50,
  },
]
