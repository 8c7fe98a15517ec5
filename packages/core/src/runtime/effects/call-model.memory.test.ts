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
  let [turns, isDone] = [0, false]
  const turn = () => {
    turns++
    if (!isDone) globalThis.setImmediate(turn)
  }
  const runtime = await openMemoryRuntime({
    models: modelsWith(() => ({
      type: 'ready',
      provider: {
        async *stream() {
          globalThis.setImmediate(turn)
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
  expect(turns).toBeGreaterThanOrEqual(40)
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
