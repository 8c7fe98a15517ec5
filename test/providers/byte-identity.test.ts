import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelRequest } from '@holdfast/core/ports'
import { createRequestBuilder } from '@holdfast/core/requests'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RequestsFixture } from '../simulation/requests/fixture.ts'
import { regressionRuns } from '../simulation/requests/regressions.ts'
import { runRequestSteps, runRequestsSeed } from '../simulation/requests/run-seed.ts'
import { providerOn } from '../simulation/requests/service-apis.ts'
import { batchesOf } from '../simulation/runs.ts'
import { type BothBuilders, openBothBuilders } from './build-both-ways.ts'
import { type DiskCopy, openDiskCopy } from './disk-copy.ts'
import { listStepInputs, recordsOf } from './step-inputs.ts'

/** The generated sessions of the request simulation. */
const stories = 60

describe('the log of any generated session', () => {
  let home = ''
  let disk: DiskCopy
  let ways: BothBuilders
  let compared = 0
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-bytes-'))
    disk = await openDiskCopy(home)
    ways = openBothBuilders(disk.store, disk.blobs, disk.source)
  })
  afterAll(async () => {
    await ways[Symbol.asyncDispose]()
    await disk[Symbol.asyncDispose]()
    await rm(home, { recursive: true, force: true })
  })

  /** Builds each request of a session in its process, from a copy of its log on disk, and on the worker thread. */
  async function isTheSame(runtime: RequestsFixture): Promise<void> {
    const lived = createRequestBuilder(runtime.store, runtime.blobs)
    const { base } = (await runtime.store.entry(runtime.session)) ?? { base: 0 }
    const session = await disk.take(runtime)
    const steps = await listStepInputs(
      runtime.session,
      await recordsOf(runtime.store, runtime.session, base),
      runtime.blobs,
    )
    for (const asked of steps) {
      const copied = { ...asked, session }
      const all = [lived.build(asked), lived.build(asked), ways.here(copied), ways.there(copied)]
      const bodies = await Promise.all(all.map(async (request) => bodyOf(await request)))
      expect([...new Set(bodies)]).toHaveLength(1)
      compared += 1
    }
  }

  it.each(Object.entries(regressionRuns))('gives the same request bytes by every path: %s', (_, run) =>
    runRequestSteps(run, isTheSame),
  )

  it.each(batchesOf(stories))(
    'gives the same request bytes by every path (SEED=$first and the next)',
    async ({ seeds }) => {
      for (const seed of seeds) await runRequestsSeed(seed, isTheSame)
      expect(compared).toBeGreaterThan(seeds.length)
    },
  )
})

const noClock = { now: () => 0, after: () => () => undefined }

/** Returns the body that the real adapter and library send. */
function bodyOf(request: ModelRequest): Promise<string> {
  const sent = Promise.withResolvers<string>()
  const provider = providerOn(
    request.model,
    (_, body) => {
      sent.resolve(body)
      return new Promise(() => undefined) // only the sent body matters
    },
    noClock,
  )
  const parts = provider.stream(request, { signal: new AbortController().signal })
  parts[Symbol.asyncIterator]().next().then(sent.reject, sent.reject) // it sent a part before its request
  return sent.promise
}
