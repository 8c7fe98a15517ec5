import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isRecord, modelsWith } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import type { SaidPart } from '../../ports/provider.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

it('lets other work run while a model has many parts ready', async () => {
  let [slices, isDone] = [0, false]
  const slice = () => {
    slices++
    if (!isDone) globalThis.setImmediate(slice)
  }
  const runtime = await openMemoryRuntime({
    models: modelsWith(() => ({
      type: 'ready',
      provider: {
        async *stream() {
          globalThis.setImmediate(slice)
          for (let sent = 0; sent < 20_000; sent++) yield { type: 'delta', part: 0, kind: 'text', text: 'x ' }
          isDone = true
          yield { type: 'said', part: 0, said: { type: 'text', text: 'x '.repeat(20_000) } }
          yield { type: 'end', end: { type: 'complete', finish: 'stop', usage: null } }
        },
      },
    })),
  })
  await runtime.send('go', { type: 'sendPrompt', content: 'go' })
  await runtime.frame(isRecord('turn.ended'))
  expect(slices).toBeGreaterThanOrEqual(40)
})

it('shows a burst of fragments in few frames, and its first fragment in one of its own', async () => {
  const words = Array.from({ length: 2000 }, (_, index) => `${index} `)
  const runtime = await openMemoryRuntime({
    models: modelsWith(() => ({
      type: 'ready',
      provider: {
        async *stream() {
          for (const word of words) yield { type: 'delta', part: 0, kind: 'text', text: word }
          yield { type: 'said', part: 0, said: { type: 'text', text: words.join('') } }
          yield { type: 'end', end: { type: 'complete', finish: 'stop', usage: null } }
        },
      },
    })),
  })
  const shown: string[] = []
  for await (const frame of runtime.handle.subscribe()) {
    if (frame.type === 'snapshot') await runtime.send('go', { type: 'sendPrompt', content: 'go' })
    if (frame.type === 'delta') shown.push(frame.text)
    if (isRecord('turn.ended')(frame)) break
  }
  expect(shown.join('')).toBe(words.join(''))
  expect(shown[0]).toBe('0 ')
  expect(shown.length).toBeLessThanOrEqual(20) // two for each slice
})

it('keeps nothing of an answer in memory once its turn has ended', async () => {
  const parts: WeakRef<SaidPart>[] = []
  const runtime = await openMemoryRuntime({
    models: modelsWith(() => ({
      type: 'ready',
      provider: {
        async *stream() {
          const said: SaidPart = { type: 'text', text: 'x'.repeat(1000) }
          parts.push(new WeakRef(said))
          yield { type: 'said', part: 0, said }
          yield { type: 'end', end: { type: 'complete', finish: 'stop', usage: null } }
        },
      },
    })),
  })
  await runtime.send('go', { type: 'sendPrompt', content: 'go' })
  await runtime.frame(isRecord('turn.ended'))
  await setImmediate()
  collectGarbage()
  expect(parts.map((part) => part.deref())).toEqual([undefined])
})
