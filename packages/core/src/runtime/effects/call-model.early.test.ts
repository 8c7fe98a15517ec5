import { setImmediate } from 'node:timers/promises'
import { fault } from '@holdfast/protocol'
import { createFaultyStore, createGate, diskFull, isRecord, say, sayPartial } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import type { Append } from '../../ports/store/log.ts'
import type { Store } from '../../ports/store/store.ts'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'

const prompt = { type: 'sendPrompt', content: 'hello' } as const
const startsStep = ({ records }: Append) => records.some(({ record }) => record.event.type === 'step.started')

/** A store whose append of a started step waits at a gate. */
function slowStore(inner: Store = createMemoryStore()) {
  const gate = createGate()
  const store: Store = {
    ...inner,
    async append(append) {
      if (startsStep(append)) await gate.pass()
      return inner.append(append)
    },
  }
  return { store, gate }
}

it('calls the model while the start of the step is being written, and shows nothing before it is durable', async () => {
  const { store, gate } = slowStore()
  const runtime = await openMemoryRuntime({ store, script: [[sayPartial('hi'), say('hi')]] })
  const shown: string[] = []
  const frames = runtime.handle.subscribe()[Symbol.asyncIterator]()
  const ended = (async () => {
    for (;;) {
      const { value: frame } = await frames.next()
      shown.push(frame.type === 'record' ? frame.record.event.type : frame.type)
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return
    }
  })()
  await runtime.send('a', prompt)
  await gate.reached
  while (runtime.model.requests.length === 0) await setImmediate()
  await setImmediate()
  expect(shown).not.toContain('delta')
  gate.open()
  await ended
  expect(shown.indexOf('delta')).toBeGreaterThan(shown.indexOf('step.started'))
  expect(runtime.model.requests).toHaveLength(1)
})

it('hangs up if the start of the step is refused, and records nothing of the answer', async () => {
  const faulty = createFaultyStore(createMemoryStore())
  const { store, gate } = slowStore(faulty)
  const answered = createGate()
  const runtime = await openMemoryRuntime({ store, script: [[{ type: 'gate', gate: answered }, say('never')]] })
  await runtime.send('a', prompt)
  await gate.reached
  await answered.reached
  faulty.failAppend(1, fault('fenced', 'Another process owns this session.'))
  gate.open()
  answered.open()
  await runtime.frame(({ type }) => type === 'end')
  expect(await runtime.events()).not.toContain('step.started')
  expect(await runtime.events()).not.toContain('text.said')
})

it('does not call the model for each repeat of a write that the disk refuses', async () => {
  const faulty = createFaultyStore(createMemoryStore())
  const runtime = await openMemoryRuntime({ store: faulty, script: () => [say('hi')] })
  let refused = 0
  const { append } = faulty
  Object.assign(faulty, {
    append: (one: Append) => {
      if (startsStep(one) && refused < 5) {
        refused += 1
        return { ok: false, fault: diskFull }
      }
      return append(one)
    },
  })
  await runtime.send('a', prompt)
  while (refused < 5) {
    await runtime.clock.advance(1000)
    await setImmediate()
  }
  await runtime.clock.advance(10_000)
  await runtime.frame(isRecord('turn.ended'))
  expect(runtime.model.requests.length).toBeLessThanOrEqual(2)
})
