import { setImmediate } from 'node:timers/promises'
import { aTool, call, createGate, isRecord, say } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import { ownSlice } from '../../ports/own-slice.ts'
import type { Store } from '../../ports/store/store.ts'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'

/** A turn with one call. The record of its result waits at a gate, if `waits`. Returns when instructions were read. */
async function runCall(waits: boolean) {
  const inner = createMemoryStore()
  const gate = createGate()
  const read: string[] = []
  let isWriting = false
  const store: Store = {
    ...inner,
    async append(append) {
      isWriting = append.records.some(({ record }) => record.event.type === 'call.settled')
      if (isWriting && waits) await gate.pass()
      const appended = await inner.append(append)
      isWriting = false
      return appended
    },
  }
  const gather = async () => {
    read.push(isWriting ? 'while the result is written' : 'after it')
    return 'Be kind.'
  }
  const look = aTool('look', async () => ({ type: 'ok', output: { text: 'seen' } }), false)
  const runtime = await openMemoryRuntime({
    store,
    tools: [look],
    instructions: { gather, list: async () => [] },
    script: [[call('look', {})], [say('done')]],
  })
  await runtime.send('a', { type: 'sendPrompt', content: 'go' })
  if (waits) {
    await gate.reached
    while (read.length < 2) await setImmediate()
    gate.open()
  }
  await runtime.frame(isRecord('turn.ended'))
  await ownSlice() // a read ahead that began too late has run by then
  return read.slice(1) // the first step has read them, too
}

it('reads the instructions of the next step once, while the result before it is being written', async () => {
  expect(await runCall(true)).toEqual(['while the result is written'])
})

it('reads them once also if the result is written at once', async () => {
  expect(await runCall(false)).toEqual(['after it'])
})
