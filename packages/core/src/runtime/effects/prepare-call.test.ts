import { aTool, call, isRecord } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import type { Tool } from '../../ports/tool.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'

it('is aborted with its turn', async () => {
  const preparing = Promise.withResolvers<AbortSignal>()
  const tool: Tool = {
    ...aTool('touch', () => Promise.reject(new Error('it must not run'))),
    prepare: (_args, _place, signal) => {
      preparing.resolve(signal)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  }
  const runtime = await openMemoryRuntime({ script: [[call('touch', {})]], tools: [tool] })
  await runtime.send('a', { type: 'sendPrompt', content: 'go' })
  const signal = await preparing.promise
  expect(signal.aborted).toBe(false)
  await runtime.send('b', { type: 'abort' })
  await runtime.frame(isRecord('turn.ended'))
  expect(signal.aborted).toBe(true)
})
