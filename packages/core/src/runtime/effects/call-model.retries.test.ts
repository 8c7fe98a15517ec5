import { limits, type Message, orThrow } from '@holdfast/protocol'
import {
  aSession,
  aTool,
  call,
  fail,
  finish,
  isRecord,
  overload,
  type ScriptedAnswer,
  say,
  sayPartial,
  type TestRuntime,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { letWaitsPass, nextWait, stillness } from '../../testing/let-waits-pass.ts'
import { createLookingTool } from '../../testing/looking-tool.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'

const open = (...script: readonly ScriptedAnswer[]) => openMemoryRuntime({ script })
const prompt = (runtime: TestRuntime) => runtime.send('go', { type: 'sendPrompt', content: 'go' })
const messagesOf = async ({ handle }: TestRuntime): Promise<readonly Message[]> =>
  orThrow(await handle.page({ limit: 500 })).messages
const notices = async (runtime: TestRuntime) =>
  (await messagesOf(runtime)).flatMap((message) =>
    message.kind === 'notice' ? [`${message.code}: ${message.text}`] : [],
  )
const lastTurn = async ({ handle }: TestRuntime) => orThrow(await handle.snapshot()).view.lastTurn

describe('a model that does not accept a call', () => {
  it('is retried three times with the same request, each after a longer wait', async () => {
    const runtime = await open([overload()], [overload()], [overload()], [say('Here.')])
    const waits = await letWaitsPass(runtime, () => prompt(runtime))
    expect(waits).toHaveLength(3)
    for (const [index, wait] of waits.entries()) {
      expect(Math.abs(wait - 1000 * 2 ** index)).toBeLessThanOrEqual(250 * 2 ** index)
    }
    expect(new Set(runtime.model.requests.map((request) => JSON.stringify(request))).size).toBe(1)
    expect(runtime.model.requests).toHaveLength(4)
    expect((await runtime.events()).slice(4)).toEqual([
      ...['step.started', 'note.added', 'note.added', 'note.added', 'text.said', 'step.ended', 'turn.ended'],
    ])
    expect(await lastTurn(runtime)).toEqual({ reason: 'done' })
  })

  it('is reported in a notice with the failure, the wait and the try; never in the answer', async () => {
    const runtime = await open([overload(2500)], [overload(60_000)], [say('Here.')], [say('And here.')])
    await letWaitsPass(runtime, () => prompt(runtime))
    expect(await notices(runtime)).toEqual([
      'retry: The service is overloaded. Trying again in 2.5 s: try 2 of 4.',
      'retry: The service is overloaded. Trying again in 60 s: try 3 of 4.',
    ])
    await letWaitsPass(runtime, () => runtime.send('more', { type: 'sendPrompt', content: 'more' }))
    expect(JSON.stringify(runtime.model.requests.at(-1))).not.toContain('overloaded')
  })

  it('fails after the last retry with the reason', async () => {
    const runtime = await open([overload()], [overload()], [overload()], [overload()], [say('Too late.')])
    await letWaitsPass(runtime, () => prompt(runtime))
    expect(runtime.model.requests).toHaveLength(limits.retriesMax + 1)
    expect(await lastTurn(runtime)).toMatchObject({
      reason: 'failed',
      fault: { kind: 'rate_limited', message: 'The service is overloaded.' },
    })
  })

  it('is retried after exactly the time it names', async () => {
    const runtime = await open([overload(7000)], [say('Here.')])
    await prompt(runtime)
    expect(await nextWait(runtime)).toBe(7000)
    runtime.clock.advance(6999)
    await stillness()
    expect(runtime.model.requests).toHaveLength(1)
    runtime.clock.advance(1)
    await runtime.frame(isRecord('turn.ended'))
    expect(runtime.model.requests).toHaveLength(2)
  })

  it('is not retried if it names a wait of more than a minute', async () => {
    const runtime = await open([overload(limits.retryWaitMsMax + 1)], [say('Too late.')])
    expect(await letWaitsPass(runtime, () => prompt(runtime))).toEqual([])
    expect(runtime.model.requests).toHaveLength(1)
    expect(await notices(runtime)).toEqual([])
    expect(await lastTurn(runtime)).toMatchObject({ reason: 'failed' })
  })

  it('counts as one step, however often it is retried', async () => {
    const runtime = await openMemoryRuntime({
      script: [[overload()], [overload()], [call('look', {})], [overload()], [say('Seen.')]],
      tools: [aTool('look', async () => ({ type: 'ok', output: { text: 'a.txt' } }), false)],
      start: { budgets: { maxSteps: 2 } },
    })
    await letWaitsPass(runtime, () => prompt(runtime))
    expect(await lastTurn(runtime)).toEqual({ reason: 'done' })
  })
})

describe('a call that is not tried again', () => {
  const cut = { retryable: true } as const

  it.each<[string, ScriptedAnswer]>([
    ['a fragment', [sayPartial('He'), fail(cut)]],
    ['a thought', [sayPartial('Hm', 'thinking'), fail(cut)]],
    ['a part', [say('Here.'), fail(cut)]],
    ['a call', [call('look', {}), fail(cut)]],
  ])('has received %s of its answer', async (_, answer) => {
    const runtime = await open(answer, [say('Never.')])
    expect(await letWaitsPass(runtime, () => prompt(runtime))).toEqual([])
    expect(runtime.model.requests).toHaveLength(1)
    expect(await lastTurn(runtime)).toMatchObject({ reason: 'failed' })
  })

  it.each<[string, ScriptedAnswer]>([
    ['a fault that a retry cannot fix', [fail({ fault: { kind: 'rejected_key', message: 'No.' } })]],
    ['such a fault with a retry time', [fail({ retryAfterMs: 10 })]],
    ['a refusal', [finish('refused')]],
    ['an answer cut at the length limit', [finish('length')]],
  ])('ends with %s', async (_, answer) => {
    const runtime = await open(answer, [say('Never.')])
    expect(await letWaitsPass(runtime, () => prompt(runtime))).toEqual([])
    expect(runtime.model.requests).toHaveLength(1)
  })
})

describe('a session that waits for its model', () => {
  it('runs no tool twice', async () => {
    const { look, runs } = createLookingTool()
    const runtime = await openMemoryRuntime({
      script: [[overload()], [call('look', {})], [overload()], [overload()], [say('Seen.')]],
      tools: [look],
    })
    await letWaitsPass(runtime, () => prompt(runtime))
    expect(runs()).toBe(1)
    expect((await runtime.events()).filter((type) => type === 'call.started')).toHaveLength(1)
  })

  it('is stopped at once by an abort, and makes no more calls', async () => {
    const runtime = await open([overload(30_000)], [say('Here.')])
    await prompt(runtime)
    await nextWait(runtime)
    expect(await runtime.send('stop', { type: 'abort' })).toMatchObject({ ok: true })
    expect((await runtime.events()).slice(-2)).toEqual(['step.ended', 'turn.ended'])
    expect(await lastTurn(runtime)).toEqual({ reason: 'aborted' })
    runtime.clock.advance(60_000)
    await stillness()
    expect(runtime.model.requests).toHaveLength(1)
    await letWaitsPass(runtime, () => runtime.send('on', { type: 'continue' }))
    expect(runtime.model.requests).toHaveLength(2)
    expect(await lastTurn(runtime)).toEqual({ reason: 'done' })
  })

  it('is released at once when its process stops', async () => {
    const runtime = await open([overload(30_000)])
    await prompt(runtime)
    await nextWait(runtime)
    await runtime.registry.unload(aSession)
    expect(runtime.clock.nextMs()).toBeNull()
    expect((await runtime.events()).slice(-2)).toEqual(['step.ended', 'turn.ended'])
  })

  it('is interrupted by a crash like any other, and nothing starts by itself', async () => {
    const old = await open([overload(30_000)], [say('The dead speak.')])
    await prompt(old)
    await nextWait(old)
    const next = await openMemoryRuntime({ store: old.store, blobs: old.blobs, takesOver: true, node: 'two' })
    await next.frame(isRecord('turn.ended'))
    expect(await lastTurn(next)).toEqual({ reason: 'interrupted' })
    expect(next.model.requests).toEqual([])
    old.clock.advance(30_000)
    await stillness()
    expect((await next.events()).slice(-2)).toEqual(['step.ended', 'turn.ended'])
  })

  it('includes steering prompts after the answer', async () => {
    const runtime = await open([overload()], [say('Here.')], [say('There.')])
    await letWaitsPass(runtime, async () => {
      await prompt(runtime)
      await nextWait(runtime)
      await runtime.send('steer', { type: 'sendPrompt', content: 'no, there' })
    })
    expect(runtime.model.requests).toHaveLength(3)
    expect(JSON.stringify(runtime.model.requests[1])).not.toContain('no, there')
    expect(JSON.stringify(runtime.model.requests[2])).toContain('no, there')
  })
})
