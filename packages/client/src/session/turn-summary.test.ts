import { aRecord } from '@holdfast/testkit/fixtures'
import { describe, expect, it } from 'vitest'
import { createTurnSummary } from './turn-summary.ts'

const isMine = ({ commandId }: { readonly commandId?: string | undefined }) => commandId === 'mine'
const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, cost: null }
const content = [{ type: 'text' as const, text: 'and this' }]

describe('the summary of a turn', () => {
  it('has the text of the last step, the usage and the end', () => {
    const summary = createTurnSummary(isMine)
    for (const one of [
      aRecord(2, { type: 'turn.started', turn: 0, cause: 'prompt' }, { commandId: 'mine' }),
      aRecord(5, { type: 'text.said', turn: 0, step: 4, text: 'I look.', provider: 'demo' }),
      aRecord(6, { type: 'step.ended', turn: 0, step: 4, finish: 'calls', usage }),
      aRecord(9, { type: 'text.said', turn: 0, step: 8, text: 'One.', provider: 'demo' }),
      aRecord(10, { type: 'text.said', turn: 0, step: 8, text: 'Two.', provider: 'demo' }),
      aRecord(11, { type: 'step.ended', turn: 0, step: 8, finish: 'stop', usage: { ...usage, cost: 1 } }),
    ])
      summary.add(one)
    expect(summary.end).toBeNull()
    summary.add(aRecord(12, { type: 'turn.ended', turn: 0, reason: 'done' }))
    expect(summary.text).toBe('One.\n\nTwo.')
    expect(summary.usage).toEqual({ input: 2, output: 4, cacheRead: 0, cacheWrite: 0, cost: null })
    expect(summary.end?.reason).toBe('done')
  })

  it('ends with the answer, if another prompt joins the turn after it', () => {
    const summary = createTurnSummary(isMine)
    summary.add(aRecord(2, { type: 'turn.started', turn: 0, cause: 'prompt' }, { commandId: 'mine' }))
    summary.add(aRecord(3, { type: 'user.said', turn: 0, content }))
    summary.add(aRecord(4, { type: 'user.said', turn: 0, content, entry: 1 }))
    expect(summary.isAnswered).toBe(false)
    summary.add(aRecord(6, { type: 'text.said', turn: 0, step: 5, text: 'One.', provider: 'demo' }))
    summary.add(aRecord(7, { type: 'step.ended', turn: 0, step: 5, finish: 'stop', usage }))
    summary.add(aRecord(9, { type: 'user.said', turn: 0, content, entry: 8 }))
    summary.add(aRecord(11, { type: 'text.said', turn: 0, step: 10, text: 'Two.', provider: 'demo' }))
    summary.add(aRecord(12, { type: 'step.ended', turn: 0, step: 10, finish: 'stop', usage }))
    const { isAnswered, text, usage: used, end } = summary
    expect({ isAnswered, text, usage: used, end }).toEqual({ isAnswered: true, text: 'One.', usage, end: null })
  })

  it('belongs, for a queued prompt, to the turn that takes it', () => {
    const summary = createTurnSummary(isMine)
    summary.add(aRecord(5, { type: 'prompt.queued', queue: 'steering', content }, { commandId: 'mine' }))
    summary.add(aRecord(6, { type: 'turn.ended', turn: 0, reason: 'done' }))
    expect(summary.end).toBeNull()
    summary.add(aRecord(8, { type: 'user.said', turn: 1, entry: 5, content }))
    summary.add(aRecord(9, { type: 'turn.ended', turn: 1, reason: 'failed' }))
    expect(summary.end?.reason).toBe('failed')
  })
})
