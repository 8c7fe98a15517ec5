import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isRecord, modelsWith } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import type { SaidPart } from '../../ports/provider.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

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
