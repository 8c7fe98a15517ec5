import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { Tool, ToolArgs, ToolRun } from '@holdfast/core/ports'
import { editFileTool } from '../../packages/holdfast/src/tools/files/edit-file.ts'
import { readFileTool } from '../../packages/holdfast/src/tools/files/read-file.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { number, type Row } from '../table.ts'

export type FileToolFigures = {
  /** A call that reads a small file: the cost of a call itself, without commits. */
  readonly callMs: number
  /** An edit of a file of 10 MB: computed, and computed again, written and synced. */
  readonly previewMs: number
  readonly editMs: number
  /** The longest time that the event loop was held meanwhile. */
  readonly stallMs: number
}

const bytes = 10 * 1024 * 1024
const line = 'const value = compute(1, 2, 3) // a line of code of usual length\n'

/** Measures calls of the file tools. The thread for large files runs already. */
async function benchFileTools({
  dir,
  rounds,
}: {
  readonly dir: string
  readonly rounds: number
}): Promise<FileToolFigures> {
  const workdir = await mkdtemp(join(dir, 'files-'))
  await writeFile(join(workdir, 'small.ts'), line.repeat(20))
  const half = line.repeat(bytes / 2 / line.length)
  await writeFile(join(workdir, 'large.ts'), `${half}needle 0\n${half}`)
  const calls: number[] = []
  for (let round = 0; round < rounds * 40; round++)
    calls.push(await timed(() => call(readFileTool, { path: 'small.ts' }, workdir)))
  const [previews, edits] = [[] as number[], [] as number[]]
  const delay = monitorEventLoopDelay({ resolution: 1 })
  for (let round = 0; round < rounds + 1; round++) {
    const args = { path: 'large.ts', old_text: `needle ${round}`, new_text: `needle ${round + 1}` }
    if (round === 1) delay.enable() // the first round starts the thread
    previews.push(await timed(() => editFileTool.prepare(args, { workdir }, new AbortController().signal)))
    edits.push(await timed(() => editFileTool.run(args, { workdir }, createRun())))
  }
  delay.disable()
  return {
    callMs: median(calls.slice(rounds * 10)),
    previewMs: median(previews.slice(1)),
    editMs: median(edits.slice(1)),
    stallMs: delay.max / 1e6,
  }
}

async function call(tool: Tool, args: ToolArgs, workdir: string): Promise<void> {
  await tool.prepare(args, { workdir }, new AbortController().signal)
  await tool.run(args, { workdir }, createRun())
}

const createRun = (): ToolRun => ({
  signal: new AbortController().signal,
  begin: async () => undefined,
  show: () => undefined,
  storeOutput: async () => ({ text: '' }),
})

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Returns a row for each figure, beside its goal. */
export const measureFileTools: Measurement = async ({ dir, rounds }) => {
  const figures = await benchFileTools({ dir, rounds })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: FileToolFigures): readonly Row[] => [
  {
    what: 'a call of read_file, besides commits',
    figure: `${number(figures.callMs, 2)} ms`,
    goal: '< 1 ms',
    holds: figures.callMs < 1,
  },
  {
    what: 'edit_file in 10 MB: preview; run, with its sync',
    figure: `${number(figures.previewMs)} ms; ${number(figures.editMs)} ms`,
    goal: '< 100 ms each',
    holds: figures.previewMs < 100 && figures.editMs < 100,
  },
  {
    what: 'longest stall of the event loop meanwhile',
    figure: `${number(figures.stallMs)} ms`,
    goal: '< 20 ms',
    holds: figures.stallMs < 20,
  },
]
