import { approvedBy, aQuestion, askedFor, questionFor, requested, stateAfter } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked } from '../../testing/deciding.ts'
import { decide } from '../decide.ts'
import { plan } from '../plan.ts'
import { waitingCalls } from '../state.ts'
import { viewOf } from '../view.ts'

const started = [...requested, approvedBy(5), { type: 'call.started', call: 5 }] as const
const later = '2026-01-01T01:00:00.000Z'
const waiting = stateAfter(...started, questionFor(5))
const approval = waitingCalls(waiting)[0]?.approval ?? 0
const answer = (rest: object, state = waiting) =>
  decide(state, asked({ type: 'respondToApproval', decision: 'approve', ...rest }, {}, 'tui'))
const replyOf = (rest: object) => {
  const decided = answer(rest)
  return decided.ok ? decided.value : decided.fault.message
}

describe('a question of a running call', () => {
  it('waits among the approvals, and its call runs on', () => {
    expect(viewOf(waiting).pendingApprovals).toEqual([{ id: approval, call: 5, tool: 'shell', preview: aQuestion() }])
    expect(plan(waiting).map(({ type }) => type)).toEqual(['run-tool'])
  })

  it('is answered with the values of its fields, and with defaults for those left out', () => {
    expect(replyOf({ answers: { room: 'b' } })).toEqual([
      {
        type: 'question.answered',
        call: 5,
        question: approval,
        reply: { action: 'accept', answers: { room: 'b', nights: 1 } },
        by: { client: 'tui' },
      },
    ])
  })

  it('is declined and cancelled', () => {
    expect(replyOf({ decision: 'reject' })).toMatchObject([{ reply: { action: 'decline' } }])
    expect(replyOf({ decision: 'cancel', via: 'holdfast run' })).toMatchObject([
      { reply: { action: 'cancel' }, by: { via: 'holdfast run' } },
    ])
  })

  it.each([
    [{}, /needs a value for room/],
    [{ answers: { room: 'c' } }, /room must be one of a, b/],
    [{ answers: { room: 'a', nights: 1.5 } }, /nights must be a whole number/],
    [{ answers: { room: 'a', nights: 10 } }, /nights must be at most 9/],
    [{ answers: { room: 'a', pet: 'dog' } }, /was not asked for: pet/],
    [{ decision: 'approve_always', answers: { room: 'a' } }, /answered once/],
  ])('refuses an answer that does not fit: %j', (rest, message) => {
    expect(replyOf(rest)).toMatch(message)
  })

  it('is the only kind of approval that can be cancelled or has answers', () => {
    const state = stateAfter(...requested, askedFor(5))
    for (const rest of [{ decision: 'cancel' }, { answers: { room: 'a' } }])
      expect(answer(rest, state)).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
  })

  it('is cancelled when its time is up, and the call runs on', () => {
    const state = stateAfter(...started, questionFor(5, later))
    expect(plan(state)).toMatchObject([{ type: 'run-tool' }, { type: 'await-approval', until: later }])
    expect(decide(state, { type: 'approval.expired', call: waitingCalls(state)[0]?.id as never })).toMatchObject({
      value: [{ type: 'question.answered', reply: { action: 'cancel' } }],
    })
  })

  it.each([
    ['a crash', { type: 'process.restarted', draft: null }],
    ['a clean stop', { type: 'process.stopped', draft: null }],
    ['an abort', asked({ type: 'abort' })],
  ] as const)('is cancelled by %s before its call is settled', (_, input) => {
    const decided = decide(waiting, input)
    expect(decided.ok && decided.value.map(({ type }) => type)).toEqual([
      'question.answered',
      'call.settled',
      'turn.ended',
    ])
    expect(decided.ok && decided.value[0]).toMatchObject({ reply: { action: 'cancel' } })
  })

  it('is cancelled when its call ends without the answer', () => {
    const outcome = { type: 'ok', output: { text: 'late' } } as const
    const call = waitingCalls(waiting)[0]?.id as never // it waits
    const decided = decide(waiting, { type: 'tool.finished', call, outcome, durationMs: 1, files: [] })
    expect(decided.ok && decided.value.map(({ type }) => type)).toEqual(['question.answered', 'call.settled'])
  })
})
