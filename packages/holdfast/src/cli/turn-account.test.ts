import type { CommandId, Recorded } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createTurnAccount } from './turn-account.ts'

const mine = 'mine' as CommandId
const record = (seq: number, event: object, commandId?: string) => ({ seq, event, commandId }) as unknown as Recorded // a test needs no brands
const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, cost: null }

describe('the account of a prompt', () => {
  it('holds the last words of its turn, what they cost, and how it ended', () => {
    const account = createTurnAccount(mine)
    for (const one of [
      record(2, { type: 'turn.started', turn: 0 }, 'mine'),
      record(5, { type: 'text.said', turn: 0, step: 4, text: 'I look.' }),
      record(6, { type: 'step.ended', turn: 0, step: 4, usage }),
      record(9, { type: 'text.said', turn: 0, step: 8, text: 'One.' }),
      record(10, { type: 'text.said', turn: 0, step: 8, text: 'Two.' }),
      record(11, { type: 'step.ended', turn: 0, step: 8, usage: { ...usage, cost: 1 } }),
    ])
      account.add(one)
    expect(account.end).toBeNull()
    account.add(record(12, { type: 'turn.ended', turn: 0, reason: 'done' }))
    expect(account.text).toBe('One.\n\nTwo.')
    expect(account.usage).toEqual({ input: 2, output: 4, cacheRead: 0, cacheWrite: 0, cost: null })
    expect(account.end?.reason).toBe('done')
  })

  it('of a prompt that waited in a queue belongs to the turn that took it', () => {
    const account = createTurnAccount(mine)
    account.add(record(5, { type: 'prompt.queued', queue: 'steering' }, 'mine'))
    account.add(record(6, { type: 'turn.ended', turn: 0, reason: 'done' }))
    expect(account.end).toBeNull()
    account.add(record(8, { type: 'user.said', turn: 1, entry: 5 }))
    account.add(record(9, { type: 'turn.ended', turn: 1, reason: 'failed' }))
    expect(account.end?.reason).toBe('failed')
  })
})
