import { fault, HoldfastError } from '@holdfast/protocol'
import { aSession, isRecord, say } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { RequestAsked, RequestBuilder } from '../../ports/request-builder.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { WindowDamaged } from '../log/read-window.ts'

const prompt = { type: 'sendPrompt', content: 'hello' } as const
const idle = isRecord('turn.ended')

/** A request builder that always fails. */
function refusing(cause: Error) {
  const asked: RequestAsked[] = []
  const requests: RequestBuilder = {
    async build(one) {
      asked.push(one)
      throw cause
    },
  }
  return { requests, asked }
}

describe('a request that is built on another thread', () => {
  it('is built from plain data', async () => {
    const elsewhere = refusing(new Error('boom'))
    const runtime = await openMemoryRuntime({ requests: elsewhere.requests })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    expect(elsewhere.asked).toMatchObject([{ session: aSession, system: 'Be kind.', tools: [], model: 'sim/model' }])
    expect(structuredClone(elsewhere.asked)).toEqual(elsewhere.asked)
  })

  it('is never used for an in-memory session', async () => {
    const { requests, asked } = refusing(new Error('boom'))
    const runtime = await openMemoryRuntime({ requests, script: [[say('Hi.')]], start: { persist: false } })
    await runtime.send('a', prompt)
    expect(await runtime.frame(idle)).toMatchObject({ record: { event: { reason: 'done' } } })
    expect(asked).toEqual([])
  })

  it.each([
    [
      'whose thread died',
      new HoldfastError(fault('internal', 'Its thread ended. Try again.')),
      { kind: 'passthrough', message: 'Its thread ended. Try again.' },
    ],
    [
      'that needs a damaged record',
      new WindowDamaged(3),
      { kind: 'passthrough', message: expect.stringContaining('records that cannot be read (3)') },
    ],
    ['that throws an unexpected error', new Error('boom'), { kind: 'raw_dump', detail: 'boom' }],
  ])('%s fails its step with a message, and the session continues', async (_, cause, fault) => {
    const runtime = await openMemoryRuntime({ requests: refusing(cause).requests })
    await runtime.send('a', prompt)
    expect(await runtime.frame(idle)).toMatchObject({ record: { event: { reason: 'failed', fault } } })
    expect(await runtime.send('b', prompt)).toMatchObject({ ok: true })
  })
})
