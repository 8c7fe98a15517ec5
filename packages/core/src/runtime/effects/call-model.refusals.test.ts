import { type Message, orThrow } from '@holdfast/protocol'
import {
  call,
  createGate,
  fail,
  modelsWith,
  type ScriptedAnswer,
  say,
  type TestRuntime,
  waitAt,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { letWaitsPass } from '../../testing/let-waits-pass.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'

const sentence = 'The service refused the request: messages.3 has no content.'
/** As an adapter reports a 400. */
const refused: ScriptedAnswer = [fail({ fault: { kind: 'passthrough', message: sentence, detail: '400' } })]

const go = (runtime: TestRuntime) =>
  letWaitsPass(runtime, () => runtime.handle.submit({ type: 'sendPrompt', content: 'go' }))
const viewOf = async ({ handle }: TestRuntime) => orThrow(await handle.snapshot()).view
const messagesOf = async ({ handle }: TestRuntime): Promise<readonly Message[]> =>
  orThrow(await handle.page({ limit: 500 })).messages

describe('an answer with a part that cannot be used', () => {
  it.each([
    ['a call without a tool', call(undefined as never, {})],
    ['a call without arguments', call('look', undefined as never)],
    ['a text that is none', say(undefined as never)],
  ])('fails the turn, and the session goes on: %s', async (_, part) => {
    const runtime = await openMemoryRuntime({ script: [[part], [say('Well.')]] })
    await go(runtime)
    expect(await viewOf(runtime)).toMatchObject({ status: 'error', lastTurn: { reason: 'failed' } })
    await go(runtime)
    expect(await viewOf(runtime)).toMatchObject({ status: 'idle', lastTurn: { reason: 'done' } })
  })
})

describe('a request that the service refuses', () => {
  it('is sent once; the turn ends with the reason, and the session waits', async () => {
    const runtime = await openMemoryRuntime({ script: () => refused })
    expect(await go(runtime)).toEqual([])
    expect(runtime.model.requests).toHaveLength(1)
    expect(await viewOf(runtime)).toMatchObject({
      status: 'error',
      lastTurn: { reason: 'failed', fault: { kind: 'passthrough', message: sentence } },
    })
    expect((await messagesOf(runtime)).filter(({ kind }) => kind === 'notice')).toEqual([])
  })

  it('is sent once more by each continue', async () => {
    const runtime = await openMemoryRuntime({ script: () => refused })
    await go(runtime)
    for (const sent of [2, 3]) {
      await letWaitsPass(runtime, () => runtime.handle.submit({ type: 'continue' }))
      expect(runtime.model.requests).toHaveLength(sent)
    }
    expect((await viewOf(runtime)).status).toBe('error')
  })

  it('leaves queued prompts waiting; steering joins when the turn is continued, then the rest follows', async () => {
    const gate = createGate()
    const script: readonly ScriptedAnswer[] = [[waitAt(gate), ...refused], [say('Now.')], [say('And then.')]]
    const runtime = await openMemoryRuntime({ script })
    await letWaitsPass(runtime, async () => {
      await runtime.handle.submit({ type: 'sendPrompt', content: 'go' })
      await gate.reached
      await runtime.handle.submit({ type: 'queueSteering', content: 'this way' })
      await runtime.handle.submit({ type: 'queueFollowUp', content: 'and then' })
      gate.open()
    })
    expect((await viewOf(runtime)).queue.map(({ queue }) => queue)).toEqual(['steering', 'follow_up'])
    expect(runtime.model.requests).toHaveLength(1)

    await letWaitsPass(runtime, () => runtime.handle.submit({ type: 'continue' }))
    await runtime.frame(
      (frame) => frame.type === 'record' && frame.record.event.type === 'turn.ended' && frame.record.event.turn === 1,
    )
    expect(runtime.model.requests).toHaveLength(3)
    expect(JSON.stringify(runtime.model.requests[1])).toContain('this way')
    expect(JSON.stringify(runtime.model.requests[1])).not.toContain('and then')
    expect(JSON.stringify(runtime.model.requests[2])).toContain('and then')
    expect((await viewOf(runtime)).queue).toEqual([])
  })

  it('is not sent to another model', async () => {
    let asked = 0
    const runtime = await openMemoryRuntime({
      models: modelsWith(
        () => ({
          type: 'ready',
          provider: {
            async *stream() {
              asked++
              yield* refused.flatMap((step) => (step.type === 'end' ? [step] : []))
            },
          },
        }),
        { fallback: async () => 'other/model' },
      ),
    })
    await go(runtime)
    expect(asked).toBe(1)
  })
})
