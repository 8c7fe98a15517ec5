import { join } from 'node:path'
import type { RequestBuilder } from '@holdfast/core/ports'
import { createRequestBuilder } from '@holdfast/core/requests'
import { orThrow } from '@holdfast/protocol'
import { createRequestThread } from '../../packages/holdfast/src/context/requests/request-thread.ts'
import { openFileBlobs } from '../../packages/holdfast/src/store/blobs/file-blobs.ts'
import { openSqliteStore } from '../../packages/holdfast/src/store/sqlite/sqlite-store.ts'
import { type BusySession, storeImages, writeBusySession } from '../fixtures/busy-session.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { number, type Row } from '../table.ts'

const windowBytes = 800 * 1024
const images = { count: 5, bytesEach: 2_000_000 }
const warmBuilds = 30
const inARow = 20

/** Measurements of one way to build a request. */
export type BuildFigures = {
  /** From the call of `build` to its result. */
  readonly buildMs: number
  /** CPU time of the main thread per request. Averaged over many, because the CPU clock is coarse. */
  readonly heldMs: number
}
export type RequestFigures = {
  readonly onThread: BuildFigures
  readonly here: BuildFigures
  /** The same with 10 MB of images. */
  readonly filesOnThread: BuildFigures
  readonly filesHere: BuildFigures
}

/** Measures building the request of an 800 KB window, on the request thread and on the main thread. */
async function benchRequest({
  dir,
  rounds,
}: {
  readonly dir: string
  readonly rounds: number
}): Promise<RequestFigures> {
  const path = join(dir, 'request.db')
  const blobsDir = `${path}.blobs`
  const store = orThrow(await openSqliteStore({ path }))
  const blobs = orThrow(await openFileBlobs(blobsDir))
  const here = createRequestBuilder(store, blobs)
  const thread = createRequestThread({
    source: { path, blobsDir },
    here,
    onProblem: ({ cause }) => console.error(cause),
  })
  try {
    const plain = await writeBusySession(store, { windowBytes, files: [] })
    const files = await storeImages(blobs, images.count, images.bytesEach)
    const withFiles = await writeBusySession(store, { windowBytes, files })
    const [onThread, onThis] = await compare(thread, here, plain, rounds * 20)
    const [filesOnThread, filesHere] = await compare(thread, here, withFiles, rounds * 12)
    return { onThread, here: onThis, filesOnThread, filesHere }
  } finally {
    await thread.close()
    await store.close()
  }
}

async function compare(
  thread: RequestBuilder,
  here: RequestBuilder,
  session: BusySession,
  samples: number,
): Promise<readonly [BuildFigures, BuildFigures]> {
  const ways = [thread, here].map((requests) => ({ requests, buildMs: [] as number[], heldMs: [] as number[] }))
  for (const { requests } of ways) for (let warm = 0; warm < warmBuilds; warm++) await time(requests, session)
  // Several in a row, so that the garbage of one way is not collected during the other.
  for (let sample = 0; sample < samples; sample += inARow) {
    for (const { requests, buildMs, heldMs } of ways) {
      const before = process.threadCpuUsage()
      for (let one = 0; one < inARow; one++) buildMs.push(await time(requests, session))
      const { user, system } = process.threadCpuUsage(before)
      heldMs.push((user + system) / 1000 / inARow)
    }
  }
  const [onThread, onThis] = ways.map(({ buildMs, heldMs }) => ({ buildMs: median(buildMs), heldMs: median(heldMs) }))
  if (!onThread || !onThis) throw new Error('expected two measurements')
  return [onThread, onThis]
}

async function time(requests: RequestBuilder, { id, state }: BusySession): Promise<number> {
  const { line, seq, checkpoint, pins } = state
  const position = { session: id, line, seq, checkpoint, pins }
  const settings = { model: 'demo/agent', thinkingLevel: 'off', system: 'Be kind.', tools: [] } as const
  const start = performance.now()
  const { messages } = await requests.build({ ...position, ...settings })
  if (messages.length < 400) throw new Error(`${messages.length} messages are fewer than the window has`)
  return performance.now() - start
}

const buildFigure = ({ buildMs, heldMs }: BuildFigures, here: BuildFigures) =>
  `${number(buildMs, 1)} ms, ${number(heldMs, 1)} of it on the main thread (${number(here.heldMs, 1)} if built there)`

/** Returns a row for each figure, beside its goal. */
export const measureRequest: Measurement = async ({ dir, rounds }) => {
  const figures = await benchRequest({ dir, rounds })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: RequestFigures): readonly Row[] => [
  {
    what: 'build a request, window of 800 KB',
    figure: buildFigure(figures.onThread, figures.here),
    goal: '< 15 ms, less on the main thread',
    holds: figures.onThread.buildMs < 15 && figures.onThread.heldMs < figures.here.heldMs,
  },
  {
    what: 'the same with 10 MB of images',
    figure: buildFigure(figures.filesOnThread, figures.filesHere),
    goal: '',
    holds: null,
  },
]
