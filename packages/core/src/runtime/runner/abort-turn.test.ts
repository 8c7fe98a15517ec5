import { type CommandId, createSerialQueue, ok } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import type { SessionSubmission } from '../../session/input.ts'
import { createAbortTurn } from './abort-turn.ts'

const submission: SessionSubmission = { commandId: 'abort-1' as CommandId, by: null, command: { type: 'abort' } } // not parsed in this test

it('stops work that began while the abort waited in the queue, before anything is written', async () => {
  const deeds: string[] = []
  const enqueue = createSerialQueue()
  const before = Promise.withResolvers<void>()
  const aborting = createAbortTurn({
    enqueue,
    interrupt: () => deeds.push('interrupt'),
    isMeant: () => true,
    answerBefore: async () => null,
    record: async () => {
      deeds.push('record')
      return ok({ seq: 1, result: {} })
    },
    pause: () => new Promise(() => undefined),
    isClosed: () => false,
    inBackground: () => undefined,
  })
  const begun = enqueue(async () => {
    await before.promise
    deeds.push('a step begins')
  })
  const aborted = aborting.abort(submission, { before: null, placed: () => undefined })
  await expect.poll(() => deeds).toEqual(['interrupt'])
  before.resolve()
  await Promise.all([begun, aborted])
  expect(deeds).toEqual(['interrupt', 'a step begins', 'interrupt', 'record'])
})
