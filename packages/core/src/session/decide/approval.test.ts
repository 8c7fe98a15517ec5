import { CallId } from '@holdfast/protocol'
import {
  anInstant,
  approvedBy,
  askedFor,
  callOf,
  factsFor,
  requested,
  stateAfter,
  stepEnded,
  thinking,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events, livedThrough, phases } from '../../testing/deciding.ts'
import type { Report } from '../input.ts'
import { plan } from '../plan.ts'

const facts = factsFor('shell')
const prepared: Report = {
  type: 'call.prepared',
  call: CallId.parse(6),
  found: { facts, argsHash: facts.argsHash, preview: { type: 'command', command: 'ls', cwd: '/work' } },
  atMs: Date.parse(anInstant),
}
const expired = (call: number): Report => ({ type: 'approval.expired', call: CallId.parse(call) })

describe('a question', () => {
  it('waits without limit unless the session sets a timeout', () => {
    const state = stateAfter({ type: 'settings.changed', title: 'no time limit' }, ...requested)
    expect(events(state, prepared)[0]).not.toHaveProperty('expiresAt')
    expect(plan(livedThrough(state, prepared))).toEqual([])
  })

  it('expires a set time after it was prepared, and a timer is planned', () => {
    const state = stateAfter({ type: 'settings.changed', approvalTimeoutMs: 322 }, ...requested)
    const until = '2026-01-02T03:04:06.000Z'
    expect(events(state, prepared)).toMatchObject([{ type: 'approval.asked', call: 6, expiresAt: until }])
    expect(plan(livedThrough(state, prepared))).toMatchObject([{ type: 'await-approval', call: 6, until }])
  })
})

describe('a timeout', () => {
  const timed = [askedFor(5, { expiresAt: anInstant }), askedFor(6, { expiresAt: anInstant })]
  const two = stateAfter(...thinking, callOf('shell'), callOf('shell'), stepEnded, ...timed)

  it('is recorded as a denial and leaves the other questions open', () => {
    expect(events(two, expired(6))).toEqual([
      {
        type: 'call.settled',
        call: 6,
        outcome: { type: 'denied', code: 'timed_out', message: 'nobody answered in time' },
        durationMs: null,
      },
    ])
    expect(livedThrough(two, expired(6)).turn).toMatchObject({ phase: 'acting', calls: [{ id: 5, status: 'asked' }] })
  })

  it('closes the round when it was the last, and the turn goes on', () => {
    expect(livedThrough(two, expired(6), expired(5)).turn).toMatchObject({ phase: 'preparing', isAnswered: false })
  })

  it('that comes after the answer changes nothing, and an answer after it finds nothing', () => {
    expect(decided(stateAfter(...requested, askedFor(5), approvedBy(5)), expired(5))).toBe('')
    const late = asked({ type: 'respondToApproval', decision: 'approve' })
    expect(decided(livedThrough(phases.asked, expired(5)), late)).toBe('no_pending_approval')
  })

  it('is planned again after a crash, for the same time', () => {
    expect(decided(two, { type: 'process.restarted', draft: null })).toBe('')
    expect(plan(two).map(({ key }) => key)).toEqual(['await-approval:5', 'await-approval:6'])
    expect(plan(two)).toMatchObject([{ until: anInstant }, { until: anInstant }])
  })
})
