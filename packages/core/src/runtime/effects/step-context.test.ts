import { setImmediate } from 'node:timers/promises'
import { invariant } from '@holdfast/protocol'
import { aTool, isRecord, modelsWith, say, stateAfter, thinking } from '@holdfast/testkit'
import { createMemoryStore } from 'holdfast/store'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../ports/store/store.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { createStepContext } from './step-context.ts'

const state = stateAfter(...thinking)
const noTools = { all: [], find: () => null, endLeftover: async () => undefined }
const inPlan = stateAfter(...thinking, { type: 'settings.changed', mode: 'plan' })

/** A context that counts how often the system text was gathered, and returns its number. */
function open() {
  let gathered = 0
  const context = createStepContext({
    tools: noTools,
    instructions: { gather: async () => `text ${++gathered}`, list: async () => [] },
    models: modelsWith(() => ({ type: 'no_credentials', message: 'no key' })),
  })
  const { origin } = state
  invariant(origin, 'the session is started')
  return {
    lookAhead: (of = state, hookContext: string | null = null) => context.lookAhead(origin, of, hookContext),
    take: (of = state, hookContext: string | null = null) => context.take(origin, of, hookContext).system,
    forget: context.forget,
  }
}

describe('the context of a step', () => {
  it('is what was gathered ahead, for one step only', async () => {
    const { lookAhead, take } = open()
    lookAhead()
    expect([await take(), await take()]).toEqual(['text 1', 'text 2'])
  })

  it('is gathered anew if the session is in another state than foreseen', async () => {
    const { lookAhead, take } = open()
    lookAhead()
    expect(await take(inPlan)).toBe('text 2')
    lookAhead()
    expect(await take(state, 'from a hook')).toBe('text 4')
  })

  it('is gathered anew if the foreseen step did not come', async () => {
    const { lookAhead, take, forget } = open()
    lookAhead()
    forget()
    expect(await take()).toBe('text 2')
  })

  it('that could not be gathered ahead fails the step, and nothing if the step does not come', async () => {
    const { origin } = state
    invariant(origin, 'the session is started')
    const context = createStepContext({
      tools: noTools,
      instructions: { gather: () => Promise.reject(new Error('no disk')), list: async () => [] },
      models: modelsWith(() => ({ type: 'no_credentials', message: 'no key' })),
    })
    context.lookAhead(origin, state, null)
    context.forget()
    context.lookAhead(origin, state, null)
    await setImmediate() // an unhandled rejection would fail the test
    await expect(context.take(origin, state, null).system).rejects.toThrow('no disk')
  })
})

it('is read while the prompt is being checked and written', async () => {
  const order: string[] = []
  const inner = createMemoryStore()
  const store: Store = {
    ...inner,
    async append(append) {
      order.push(`write ${append.records[0]?.record.event.type}`)
      await setImmediate()
      const appended = await inner.append(append)
      order.push('written')
      return appended
    },
  }
  const tool = {
    ...aTool('look', async () => ({ type: 'ok', output: { text: '' } })),
    async schemaIn() {
      order.push('read')
      return null
    },
  }
  const runtime = await openMemoryRuntime({ store, tools: [tool], script: [[say('one')], [say('two')]] })
  await runtime.send('c1', { type: 'sendPrompt', content: 'first' }) // hooks may run before the first step of a process
  await runtime.frame(isRecord('turn.ended'))
  order.length = 0
  const { value } = (await runtime.send('c2', { type: 'sendPrompt', content: 'second' })) as { value: { seq: number } }
  await runtime.frame(
    (frame) => isRecord('turn.ended')(frame) && frame.type === 'record' && frame.record.seq > value.seq,
  )
  expect(order.indexOf('read')).toBeLessThan(order.indexOf('written'))
  expect(order.filter((one) => one === 'read')).toHaveLength(1)
})
