import { type CommandId, ok, type Submission } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { createAbortTurn } from './abort-turn.ts'
import { createMailbox } from './mailbox.ts'

const submission: Submission = { commandId: 'abort-1' as CommandId, by: null, command: { type: 'abort' } } // no schema at hand

it('stops what began while the abort waited for its turn, before anything is written', async () => {
  const deeds: string[] = []
  const mailbox = createMailbox()
  const before = Promise.withResolvers<void>()
  const aborting = createAbortTurn({
    mailbox,
    interrupt: () => deeds.push('interrupt'),
    findCommand: async () => null,
    record: async () => {
      deeds.push('record')
      return ok({ seq: 1, result: {} })
    },
    pause: () => new Promise(() => undefined),
    isClosed: () => false,
    inBackground: () => undefined,
  })
  const begun = mailbox.put(async () => {
    await before.promise
    deeds.push('a step begins')
  })
  const aborted = aborting.abort(submission)
  await expect.poll(() => deeds).toEqual(['interrupt'])
  before.resolve()
  await Promise.all([begun, aborted])
  expect(deeds).toEqual(['interrupt', 'a step begins', 'interrupt', 'record'])
})
