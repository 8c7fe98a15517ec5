import { setImmediate } from 'node:timers/promises'
import { CallId, ok, StepId } from '@holdfast/protocol'
import { stateAfter, thinking } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Report } from '../../session/input.ts'
import type { Effect } from '../../session/plan.ts'
import type { EffectRun } from '../dependencies.ts'
import { createPerformer } from './performer.ts'

const effect = (call: number): Effect => ({
  type: 'prepare-call',
  key: `prepare-call:${call}`,
  call: CallId.parse(call),
  tool: 'look',
})
const reportOn = ({ key }: Effect): Report => ({
  type: 'call.prepared',
  call: CallId.parse(Number(key.split(':')[1])),
  found: { unusable: 'no' },
  atMs: 0,
})

/** A performer whose effects wait until the test ends them. */
function openPerformer() {
  const begun: { readonly key: string; readonly run: EffectRun; readonly end: (report: Report | null) => void }[] = []
  const reports: Report[] = []
  const broken: unknown[] = []
  const performer = createPerformer(
    (one, run) => new Promise((end) => void begun.push({ key: one.key, run, end })),
    async (report) => {
      reports.push(report)
      return ok(undefined)
    },
    (cause) => broken.push(cause),
  )
  return { performer, begun, reports, broken }
}
const keys = (begun: readonly { readonly key: string }[]) => begun.map(({ key }) => key)

describe('the performer', () => {
  it('starts new effects and keeps running ones', () => {
    const { performer, begun } = openPerformer()
    performer.reconcile([effect(1)])
    performer.reconcile([effect(1), effect(2)])
    expect(keys(begun)).toEqual(['prepare-call:1', 'prepare-call:2'])
  })

  it('aborts effects that are no longer planned', () => {
    const { performer, begun } = openPerformer()
    performer.reconcile([effect(1), effect(2)])
    performer.reconcile([effect(2)])
    expect(begun.map(({ run }) => run.signal.aborted)).toEqual([true, false])
  })

  it('drops the late report of an aborted effect', async () => {
    const { performer, begun, reports } = openPerformer()
    performer.reconcile([effect(1)])
    performer.reconcile([])
    begun[0]?.end(reportOn(effect(1)))
    await performer.settled()
    expect(reports).toEqual([])
  })

  it('reports the result of an effect once, and does not restart it while it is planned', async () => {
    const { performer, begun, reports } = openPerformer()
    performer.reconcile([effect(1)])
    begun[0]?.end(reportOn(effect(1)))
    await performer.settled()
    performer.reconcile([effect(1)])
    expect([reports.length, begun.length]).toEqual([1, 1])
  })

  it('restarts an effect that is planned again', () => {
    const { performer, begun } = openPerformer()
    for (const owed of [[effect(1)], [], [effect(1)]]) performer.reconcile(owed)
    expect(keys(begun)).toEqual(['prepare-call:1', 'prepare-call:1'])
  })

  it('aborts everything on an interrupt, and restarts nothing', () => {
    const { performer, begun } = openPerformer()
    performer.reconcile([effect(1)])
    performer.interrupt()
    performer.reconcile([effect(1)])
    expect(begun.map(({ run }) => run.signal.aborted)).toEqual([true])
  })

  it('is settled when nothing runs any more, including aborted effects', async () => {
    const { performer, begun } = openPerformer()
    performer.reconcile([effect(1)])
    performer.reconcile([])
    let isSettled = false
    const settled = performer.settled().then(() => {
      isSettled = true
    })
    await Promise.resolve()
    expect(isSettled).toBe(false)
    begun[0]?.end(null)
    await settled
  })

  it('reports an effect that throws, and continues', async () => {
    const broken: unknown[] = []
    const performer = createPerformer(
      () => Promise.reject(new Error('broken')),
      async () => ok(undefined),
      (cause) => broken.push(cause),
    )
    performer.reconcile([effect(1)])
    await performer.settled()
    expect(broken).toEqual([new Error('broken')])
  })
})

describe('an effect that starts early', () => {
  const modelCall: Effect = {
    type: 'call-model',
    key: 'call-model:1',
    step: StepId.parse(1),
    model: 'sim/model',
    thinkingLevel: 'off',
  }
  const early = (recorded: Promise<unknown>) => ({ state: stateAfter(...thinking), recorded })

  it('is only a model call, and goes on when it is planned', () => {
    const { performer, begun } = openPerformer()
    expect(performer.startEarly([modelCall, effect(2)], 'call-model', early(Promise.resolve()))).toEqual([
      'call-model:1',
    ])
    performer.reconcile([modelCall])
    expect(begun.map(({ key, run }) => [key, run.signal.aborted])).toEqual([['call-model:1', false]])
  })

  it('reports only once its records are durable', async () => {
    const { performer, begun, reports } = openPerformer()
    const { promise, resolve } = Promise.withResolvers<void>()
    performer.startEarly([modelCall], 'call-model', early(promise))
    begun[0]?.end(reportOn(effect(1)))
    await setImmediate()
    expect(reports).toEqual([])
    resolve()
    await performer.settled()
    expect(reports).toHaveLength(1)
  })

  it('is aborted when its records are refused, reports nothing, and can start again', async () => {
    const { performer, begun, reports } = openPerformer()
    performer.cancelEarly(performer.startEarly([modelCall], 'call-model', early(Promise.resolve())))
    begun[0]?.end(reportOn(effect(1)))
    await performer.settled()
    expect([begun[0]?.run.signal.aborted, reports]).toEqual([true, []])
    performer.reconcile([modelCall])
    expect(begun).toHaveLength(2)
  })
})
