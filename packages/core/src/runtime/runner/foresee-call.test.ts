import { setImmediate } from 'node:timers/promises'
import type { Frame } from '@holdfast/protocol'
import { createFaultyStore, createGate, diskFull, isRecord, say } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import type { Append } from '../../ports/store/log.ts'
import type { Store } from '../../ports/store/store.ts'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'

const prompt = (content: string) => ({ type: 'sendPrompt', content }) as const
const holds = (type: string) => (append: Append) => append.records.some(({ record }) => record.event.type === type)

const isSecondEnd = (frame: Frame) =>
  frame.type === 'record' && frame.record.event.type === 'turn.ended' && frame.record.event.turn === 1

/** A session after its first turn, whose next prompt waits at a gate while it is being written. */
async function openSecondTurn(inner: Store = createMemoryStore()) {
  const gate = createGate()
  let isSecond = false
  const store: Store = {
    ...inner,
    async append(append) {
      if (isSecond && holds('turn.started')(append)) await gate.pass()
      return inner.append(append)
    },
  }
  const runtime = await openMemoryRuntime({ store, holdsRecords: true, script: () => [say('hi')] })
  await runtime.send('a', prompt('one'))
  await runtime.frame(isRecord('turn.ended'))
  isSecond = true
  const sent = runtime.send('b', prompt('two'))
  await gate.reached
  while (runtime.model.requests.length === 1) await setImmediate()
  return { runtime, gate, sent }
}

it('calls the model with a prompt that is being written, once, and records nothing before the prompt', async () => {
  const { runtime, gate, sent } = await openSecondTurn()
  expect(JSON.stringify(runtime.model.requests[1])).toContain('"two"')
  expect((await runtime.events()).filter((type) => type === 'step.started')).toHaveLength(1)
  gate.open()
  await sent
  await runtime.frame(isSecondEnd)
  expect(runtime.model.requests).toHaveLength(2)
  expect((await runtime.events()).slice(-6)).toEqual([
    ...['turn.started', 'user.said', 'step.started', 'text.said', 'step.ended', 'turn.ended'],
  ])
})

it('hangs up if the prompt is refused', async () => {
  const faulty = createFaultyStore(createMemoryStore())
  const { runtime, gate, sent } = await openSecondTurn(faulty)
  faulty.failAppend(1, diskFull)
  gate.open()
  expect(await sent).toMatchObject({ ok: false })
  expect((await runtime.events()).at(-1)).toBe('turn.ended')
})

it('calls the model again if something else is decided before the step', async () => {
  const { runtime, gate, sent } = await openSecondTurn()
  const model = runtime.send('c', { type: 'setThinkingLevel', level: 'high' })
  await setImmediate()
  gate.open()
  await Promise.all([sent, model])
  await runtime.frame(isSecondEnd)
  const events = await runtime.events()
  expect(events.filter((type) => type === 'step.started')).toHaveLength(2)
  expect(events.at(-1)).toBe('turn.ended')
})
