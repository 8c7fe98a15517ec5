import { historyProviders } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { allMet, timesMet } from './coverage.ts'
import { opaqueKinds } from './requests/check.ts'
import * as commands from './requests/commands.ts'
import { regressionRuns } from './requests/regressions.ts'
import { runRequestSteps, runRequestsSeed } from './requests/run-seed.ts'
import { requestRuns } from './requests/runs.ts'
import { sayableKinds } from './requests/service-apis.ts'
import { batchesOf, isOneSeed, runUntilMet } from './runs.ts'

describe('a request after a random run', () => {
  it.each(Object.entries(regressionRuns))('does not repeat a fixed bug: %s', async (_, run) => {
    await runRequestSteps(run)
  })

  it.each(batchesOf(requestRuns.runs))(
    'is accepted by all four services and byte for byte reproducible (SEED=$first and the next)',
    async ({ seeds }) => {
      for (const seed of seeds) await runRequestsSeed(seed)
    },
  )
})

describe('random runs', () => {
  it.skipIf(isOneSeed)('reach every listed outcome', async () => {
    const kinds = Object.entries(commands).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []))
    const wanted = [
      ...kinds,
      ...['prompt', 'steer', 'followUp', 'approve', 'deny', 'abort', 'goOn', 'branch', 'rewind', 'switchTo', 'fork']
        .concat('compact', 'undo', 'checkpoint', 'summary', 'truncate', 'seed', 'setHistory', 'switchModel', 'pin')
        .map((kind) => `${kind}: accepted`),
      ...['cut', 'stop', 'error', 'overloaded'].map((how) => `breakOff: ${how}`),
      ...['living', 'dead', 'paused'].flatMap((whose) =>
        ['answer', 'tool'].map((what) => `late: ${what} of the ${whose}`),
      ),
      ...['killed', 'paused'].map((how) => `crash: ${how}`),
      ...commands.fileNames.map((name) => `file: ${name}`),
      ...historyProviders.flatMap((service) => sayableKinds[service].map((said) => `${service} gives ${said}`)),
      ...historyProviders.flatMap((service) => [`sent to ${service}`, `cached by ${service}`]),
      ...opaqueKinds,
      ...['asked for a summary', 'sent as the log says', 'restarted at rest'],
    ]
    const missing = () => wanted.filter((what) => timesMet(what) === 0)
    const seldom = await runUntilMet(requestRuns.runs + 1, missing, runRequestsSeed)
    expect(seldom, `of these:\n${allMet().join('\n')}`).toEqual([])
  })
})
