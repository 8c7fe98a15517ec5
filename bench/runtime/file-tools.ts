import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { Blobs, Tool, ToolArgs, ToolRun } from '@holdfast/core/ports'
import { type Event, orThrow } from '@holdfast/protocol'
import { openHoldfast } from '../../packages/holdfast/src/entry/index.ts'
import { openFileBlobs } from '../../packages/holdfast/src/store/blobs/file-blobs.ts'
import { registerKey } from '../../packages/holdfast/src/system/secrets/known-keys.ts'
import { maskedTool } from '../../packages/holdfast/src/tools/define/masked-tool.ts'
import { editFileTool } from '../../packages/holdfast/src/tools/files/edit-file.ts'
import { readFileTool } from '../../packages/holdfast/src/tools/files/read-file.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { number, type Row } from '../table.ts'

export type FileToolFigures = {
  /** A call that reads a small file: the cost of a call itself, without commits. */
  readonly callMs: number
  /** The same in a session whose store is in memory: from the record of the call to that of its result, with its verdict. */
  readonly sessionCallMs: number
  /** An edit of a file of 10 MB: computed, and computed again, written and synced. */
  readonly previewMs: number
  readonly editMs: number
  /** The same in a session: the content before is searched for keys, stored and synced too. */
  readonly keptEditMs: number
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
  const sessionCallMs = await benchSessionCall(workdir, rounds * 8)
  const blobs = orThrow(await openFileBlobs(join(workdir, 'blobs')))
  registerKey('sk-bench-0123456789abcdef0123456789abcdef')
  const masked = maskedTool(editFileTool)
  const [previews, edits, kept] = [[] as number[], [] as number[], [] as number[]]
  const delay = monitorEventLoopDelay({ resolution: 1 })
  for (let round = 0; round < rounds + 1; round++) {
    const [from, next, to] = [2 * round, 2 * round + 1, 2 * round + 2]
    const args = { path: 'large.ts', old_text: `needle ${from}\n`, new_text: `needle ${next}\n` }
    const again = { path: 'large.ts', old_text: `needle ${next}\n`, new_text: `needle ${to}\n` }
    if (round === 1) delay.enable() // the first round starts the thread
    previews.push(await timed(() => editFileTool.prepare(args, { workdir }, new AbortController().signal)))
    edits.push(await timed(() => editFileTool.run(args, { workdir }, createRun())))
    kept.push(await timed(() => masked.run(again, { workdir }, createRun(blobs))))
  }
  delay.disable()
  return {
    callMs: median(calls.slice(rounds * 10)),
    sessionCallMs,
    previewMs: median(previews.slice(1)),
    editMs: median(edits.slice(1)),
    keptEditMs: median(kept.slice(1)),
    stallMs: delay.max / 1e6,
  }
}

const turnsPerSession = 5

/** Measures calls of `read_file` in sessions, one in each turn. Nothing of them waits for a disk but the tool itself. */
async function benchSessionCall(workdir: string, sessions: number): Promise<number> {
  const environment = { HOLDFAST_HOME: join(workdir, '.home'), DEMO_PACE: '0', PATH: process.env['PATH'] }
  await using holdfast = await openHoldfast({ store: 'memory:', environment, sandbox: 'off' })
  const calls: number[] = []
  for (let index = 0; index < sessions; index++) {
    // A new one each time: a store in memory copies all that it has, which would be measured too.
    const session = await holdfast.startSession({ workdir, model: 'demo/agent', approvals: 'none' })
    const frames = session.subscribe()[Symbol.asyncIterator]()
    const until = async (type: Event['type']): Promise<number> => {
      for (;;) {
        const { value: frame, done } = await frames.next()
        if (done) throw new Error('the stream ended first')
        if (frame.type === 'record' && frame.record.event.type === type) return performance.now()
      }
    }
    for (let turn = 0; turn < turnsPerSession; turn++) {
      await session.sendPrompt('read small.ts')
      const requested = await until('call.requested')
      calls.push((await until('call.settled')) - requested)
      await until('turn.ended')
    }
    await holdfast.stopSession(session.id)
  }
  return median(calls.slice(calls.length / 4))
}

/** Calls a tool as a session does: it also checks that the file is not one of Holdfast's own. */
async function call(tool: Tool, args: ToolArgs, workdir: string): Promise<void> {
  const context = { workdir, ownPaths: ['data', 'config', 'state'].map((name) => join(workdir, '.home', name)) }
  await tool.prepare(args, context, new AbortController().signal)
  await tool.run(args, context, createRun())
}

const createRun = (blobs?: Blobs): ToolRun => ({
  signal: new AbortController().signal,
  begin: async () => undefined,
  show: () => undefined,
  storeOutput: async () => ({ text: '' }),
  ...(blobs && { blobs: { put: async (bytes) => orThrow(await blobs.put([bytes])), open: () => Promise.reject() } }),
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
    what: 'the same in a session, from its record to that of its result; store in memory',
    figure: `${number(figures.sessionCallMs, 2)} ms, ${number(figures.sessionCallMs - figures.callMs, 2)} ms more`,
    goal: '< 1 ms more',
    holds: figures.sessionCallMs - figures.callMs < 1,
  },
  {
    what: 'edit_file in 10 MB: preview; run, with its sync',
    figure: `${number(figures.previewMs)} ms; ${number(figures.editMs)} ms`,
    goal: '< 100 ms each',
    holds: figures.previewMs < 100 && figures.editMs < 100,
  },
  {
    what: 'the same run in a session, which also stores the content before',
    figure: `${number(figures.keptEditMs)} ms`,
    goal: '< 100 ms',
    holds: figures.keptEditMs < 100,
  },
  {
    what: 'longest stall of the event loop meanwhile',
    figure: `${number(figures.stallMs)} ms`,
    goal: '< 20 ms',
    holds: figures.stallMs < 20,
  },
]
