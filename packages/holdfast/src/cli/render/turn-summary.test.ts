import { CommandId } from '@holdfast/protocol'
import { aRecord } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createTurnAccount } from './turn-summary.ts'

const mine = CommandId.parse('mine')
const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, cost: null }
const content = [{ type: 'text' as const, text: 'and this' }]

describe('the account of a prompt', () => {
  it('holds the last words of its turn, what they cost, and how it ended', () => {
    const account = createTurnAccount(mine)
    for (const one of [
      aRecord(2, { type: 'turn.started', turn: 0, cause: 'prompt' }, { commandId: 'mine' }),
      aRecord(5, { type: 'text.said', turn: 0, step: 4, text: 'I look.', provider: 'demo' }),
      aRecord(6, { type: 'step.ended', turn: 0, step: 4, finish: 'calls', usage }),
      aRecord(9, { type: 'text.said', turn: 0, step: 8, text: 'One.', provider: 'demo' }),
      aRecord(10, { type: 'text.said', turn: 0, step: 8, text: 'Two.', provider: 'demo' }),
      aRecord(11, { type: 'step.ended', turn: 0, step: 8, finish: 'stop', usage: { ...usage, cost: 1 } }),
    ])
      account.add(one)
    expect(account.end).toBeNull()
    account.add(aRecord(12, { type: 'turn.ended', turn: 0, reason: 'done' }))
    expect(account.text).toBe('One.\n\nTwo.')
    expect(account.usage).toEqual({ input: 2, output: 4, cacheRead: 0, cacheWrite: 0, cost: null })
    expect(account.end?.reason).toBe('done')
  })

  it('of a prompt that waited in a queue belongs to the turn that took it', () => {
    const account = createTurnAccount(mine)
    account.add(aRecord(5, { type: 'prompt.queued', queue: 'steering', content }, { commandId: 'mine' }))
    account.add(aRecord(6, { type: 'turn.ended', turn: 0, reason: 'done' }))
    expect(account.end).toBeNull()
    account.add(aRecord(8, { type: 'user.said', turn: 1, entry: 5, content }))
    account.add(aRecord(9, { type: 'turn.ended', turn: 1, reason: 'failed' }))
    expect(account.end?.reason).toBe('failed')
  })
})
