import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rgPath } from '@vscode/ripgrep'
import type { Tool, ToolArgs } from '../../packages/core/src/ports/index.ts'
import { createFind } from '../../packages/holdfast/src/tools/search/find.ts'
import { createGrep } from '../../packages/holdfast/src/tools/search/grep.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { number, type Row } from '../table.ts'

const files = 100_000
const filesPerFolder = 100

export type SearchFigures = {
  readonly findMs: number
  readonly findByHandMs: number
  readonly grepMs: number
  readonly grepByHandMs: number
  /** The slower of the two, relative to ripgrep run by hand. */
  readonly ofByHand: number
}

/**
 * Measures `find` and `grep` on a tree of 100,000 files, alternating with ripgrep run by hand. The list by hand has no
 * pattern: with one (`-g`), ripgrep would also list what .gitignore leaves out.
 */
async function benchSearch({ dir, rounds }: { readonly dir: string; readonly rounds: number }): Promise<SearchFigures> {
  const workdir = await writeTree(join(dir, 'tree'))
  const deps = { environment: process.env, ownPaths: [] }
  const run = (tool: Tool, args: ToolArgs) =>
    tool.run(args, { workdir }, { ...noRun, signal: new AbortController().signal })
  const byHand = (...args: readonly string[]) =>
    promisify(execFile)(rgPath, args, { cwd: workdir, maxBuffer: 64 * 1024 ** 2 })
  const [find, grep] = [createFind(deps), createGrep(deps)]
  const works = {
    find: () => run(find, { pattern: '*7.ts' }),
    findByHand: () => byHand('--files', '--hidden', '-g', '!.git'),
    grep: () => run(grep, { pattern: 'needle [0-9]+' }),
    grepByHand: () => byHand('-n', '--hidden', '-g', '!.git', '-e', 'needle [0-9]+', './'),
  }
  const taken = { find: [], findByHand: [], grep: [], grepByHand: [] } as { [name in keyof typeof works]: number[] }
  for (let round = -1; round < rounds; round++)
    for (const [name, work] of Object.entries(works) as [keyof typeof works, () => Promise<unknown>][]) {
      const sinceMs = performance.now()
      await work()
      if (round >= 0) taken[name].push(performance.now() - sinceMs) // the first fills the cache of the disk
    }
  const [findMs, findByHandMs] = [median(taken.find), median(taken.findByHand)]
  const [grepMs, grepByHandMs] = [median(taken.grep), median(taken.grepByHand)]
  const ofByHand = Math.max(findMs / findByHandMs, grepMs / grepByHandMs)
  return { findMs, findByHandMs, grepMs, grepByHandMs, ofByHand }
}

const noRun = {
  begin: async () => undefined,
  show: () => undefined,
  storeOutput: async () => ({ text: '' }),
}

/** Writes the files: ten short lines each, and in every thousandth a line to find. */
async function writeTree(root: string): Promise<string> {
  for (let folder = 0; folder < files / filesPerFolder; folder++) {
    const path = join(root, `package-${Math.floor(folder / 40)}`, `folder-${folder}`)
    await mkdir(path, { recursive: true })
    const writes = Array.from({ length: filesPerFolder }, (_, index) => {
      const number = folder * filesPerFolder + index
      const needle = number % 1000 === 0 ? `needle ${number}\n` : ''
      return writeFile(
        join(path, `file-${index}.ts`),
        `${`export const value${number} = ${number}\n`.repeat(10)}${needle}`,
      )
    })
    await Promise.all(writes)
  }
  return root
}

/** Returns a row for each figure, beside its goal. */
export const measureSearch: Measurement = async ({ dir, rounds }) => {
  const figures = await benchSearch({ dir, rounds })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: SearchFigures): readonly Row[] => [
  {
    what: 'find and grep in 100,000 files, compared with ripgrep by hand',
    figure: `${number(figures.findMs)} and ${number(figures.grepMs)} ms against ${number(figures.findByHandMs)} and ${number(figures.grepByHandMs)} ms`,
    goal: '≤ 1.3 ×',
    holds: figures.ofByHand <= 1.3,
  },
]
