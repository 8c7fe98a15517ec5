import { BlobHash, CallId, type Trust } from '@holdfast/protocol'
import {
  aHash,
  anInstant,
  approvedBy,
  askedFor,
  callOf,
  type EventInput,
  factsFor,
  requested,
  stateAfter,
  stepEnded,
  thinking,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events, livedThrough, modelReplied, phases } from '../../testing/deciding.ts'
import type { SessionCommandInput } from '../../testing/each-command.ts'
import type { Report } from '../input.ts'
import { plan } from '../plan.ts'
import type { SessionState } from '../state.ts'

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

describe('an answer', () => {
  it('says what gave it in place of a person', () => {
    const answer = { type: 'respondToApproval', decision: 'approve' } as const
    expect(events(phases.asked, asked({ ...answer, via: '--yes' }))[0]).toMatchObject({ by: { via: '--yes' } })
    expect(events(phases.asked, asked(answer))[0]).not.toHaveProperty('by.via')
  })

  it('that rejects says what gave it in place of a person', () => {
    const rejected = { type: 'respondToApproval', decision: 'reject', via: '--no' } as const
    const outcome = { type: 'denied', code: 'rejected', message: '--no said no', via: '--no' }
    expect(events(phases.asked, asked(rejected))[0]).toMatchObject({ type: 'call.settled', outcome })
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
        outcome: { type: 'denied', code: 'timed_out', message: 'not answered in time' },
        durationMs: null,
      },
    ])
    expect(livedThrough(two, expired(6)).turn).toMatchObject({ phase: 'acting', calls: [{ id: 5, status: 'asked' }] })
  })

  it('closes the round if it was the last question, and the turn continues', () => {
    expect(livedThrough(two, expired(6), expired(5)).turn).toMatchObject({ phase: 'preparing', isAnswered: false })
  })

  it('after the answer changes nothing, and an answer after the timeout is refused', () => {
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

const other = 'b'.repeat(64)
const answer = (
  decision: 'approve_turn' | 'approve_session' | 'approve_always',
  approval?: number,
): SessionCommandInput => ({
  type: 'respondToApproval',
  decision,
  ...(approval !== undefined && { approval }),
})
/** Three calls of a tool wait; the last has other arguments. */
const threeOf = (tool: string): SessionState =>
  stateAfter(
    ...thinking,
    ...[callOf(tool), callOf(tool), callOf(tool), stepEnded],
    ...[askedFor(5, { tool }), askedFor(6, { tool }), askedFor(7, { tool, argsHash: other })],
  )
const callPrepared = (call: number, tool: string, changes: Parameters<typeof factsFor>[1] = {}): Report => {
  const facts = factsFor(tool, changes)
  const preview = { type: 'arguments' as const, args: {} }
  return {
    type: 'call.prepared',
    call: CallId.parse(call),
    found: { facts, argsHash: facts.argsHash, preview },
    atMs: 0,
  }
}

describe('an answer with a scope', () => {
  it.each([
    ['approve_turn', 'turn'],
    ['approve_session', 'session'],
    ['approve_always', 'workspace'],
  ] as const)('%s trusts the tool for the %s, and approves the waiting calls it covers', (decision, scope) => {
    const by = { rule: `trust: ${scope}` }
    expect(events(threeOf('touch'), asked(answer(decision), {}, 'tui'))).toEqual([
      { type: 'call.approved', call: 5, argsHash: aHash, by: { client: 'tui' }, scope },
      { type: 'trust.granted', tool: 'touch', scope },
      { type: 'call.approved', call: 6, argsHash: aHash, by, scope: 'once' },
      { type: 'call.approved', call: 7, argsHash: other, by, scope: 'once' },
    ])
  })

  it('for the workspace records the stored rule instead of trust, and approves the waiting calls it covers', () => {
    const rule = { tool: 'touch', verdict: 'allow' as const }
    const stored = { rule, by: 'your rule `touch`' }
    expect(events(threeOf('touch'), asked(answer('approve_always'), { stored }, 'tui'))).toEqual([
      { type: 'call.approved', call: 5, argsHash: aHash, by: { client: 'tui' }, scope: 'workspace', rule },
      { type: 'call.approved', call: 6, argsHash: aHash, by: { rule: stored.by }, scope: 'once' },
      { type: 'call.approved', call: 7, argsHash: other, by: { rule: stored.by }, scope: 'once' },
    ])
  })

  it('covers only this call if it is asked about each time, and answers no such question', () => {
    const reason = 'it writes into .git'
    const two = stateAfter(
      ...[...thinking, callOf('touch'), callOf('touch'), stepEnded],
      ...[askedFor(5, { tool: 'touch', reason }), askedFor(6, { tool: 'touch' })],
    )
    expect(events(two, asked(answer('approve_session', 8)))).toMatchObject([{ call: 5, scope: 'once' }])
    expect(events(two, asked(answer('approve_session', 9)))).toMatchObject([{ call: 6 }, { type: 'trust.granted' }])
    expect(decided(two, asked({ type: 'setToolTrust', tool: 'touch', scope: 'session' }))).toBe(
      'trust.granted call.approved',
    )
  })

  it.each(['shell', 'mcp__files__write'])('trusts %s in this exact call only', (tool) => {
    expect(events(threeOf(tool), asked(answer('approve_session')))).toMatchObject([
      { type: 'call.approved', call: 5 },
      { type: 'trust.granted', tool, scope: 'session', argsHash: aHash },
      { type: 'call.approved', call: 6 },
    ])
  })

  it('does not answer questions of other tools', () => {
    const mixed = stateAfter(
      ...thinking,
      callOf('touch'),
      callOf('shell'),
      stepEnded,
      askedFor(5, { tool: 'touch' }),
      askedFor(6),
    )
    expect(decided(mixed, asked(answer('approve_turn')))).toBe('call.approved trust.granted')
  })
})

describe('trust', () => {
  const later = (trust: Trust): SessionState =>
    stateAfter(...thinking, { type: 'trust.granted', ...trust }, callOf('touch'), stepEnded)

  it('approves a later call, and the approval names it', () => {
    expect(events(later({ tool: 'touch', scope: 'session' }), callPrepared(6, 'touch'))).toMatchObject([
      { type: 'call.approved', by: { rule: 'trust: session' } },
    ])
  })

  it('in exact arguments does not approve other arguments', () => {
    const exact = later({ tool: 'touch', scope: 'session', argsHash: BlobHash.parse(aHash) })
    expect(decided(exact, callPrepared(6, 'touch'))).toBe('call.approved')
    expect(decided(exact, callPrepared(6, 'touch', { argsHash: BlobHash.parse(other) }))).toBe('approval.asked')
  })

  it('of the workspace is read from the workspace each time', () => {
    const state = later({ tool: 'touch', scope: 'workspace' })
    const workspaceTrust = [{ tool: 'touch', scope: 'workspace' as const }]
    expect(decided(state, callPrepared(6, 'touch', { workspaceTrust }))).toBe('call.approved')
    expect(decided(state, callPrepared(6, 'touch'))).toBe('approval.asked')
  })

  it('can be given without a question, and approves the waiting calls it covers', () => {
    const command: SessionCommandInput = { type: 'setToolTrust', tool: 'shell', scope: 'session', argsHash: aHash }
    expect(events(threeOf('shell'), asked(command))).toMatchObject([
      { type: 'trust.granted', tool: 'shell', scope: 'session', argsHash: aHash },
      { type: 'call.approved', call: 5, by: { rule: 'trust: session' } },
      { type: 'call.approved', call: 6 },
    ])
  })

  it('ends when it is revoked, by tool or completely', () => {
    const granted: readonly EventInput[] = [
      { type: 'trust.granted', tool: 'touch', scope: 'session' },
      { type: 'trust.granted', tool: 'touch', scope: 'turn', argsHash: aHash },
      { type: 'trust.granted', tool: 'shell', scope: 'session' },
    ]
    const state = stateAfter(...thinking, ...granted, callOf('touch'), stepEnded)
    const revoked = livedThrough(state, asked({ type: 'revokeToolTrust', tool: 'touch' }))
    expect(revoked.trust).toEqual([{ tool: 'shell', scope: 'session' }])
    expect(decided(revoked, callPrepared(8, 'touch'))).toBe('approval.asked')
    expect(livedThrough(state, asked({ type: 'revokeToolTrust', tool: 'all' })).trust).toEqual([])
  })

  it('that is revoked does not undo earlier approvals', () => {
    const state = stateAfter(...thinking, callOf('touch'), stepEnded, approvedBy(5))
    const revoked = livedThrough(state, asked({ type: 'revokeToolTrust', tool: 'all' }))
    const starting: Report = { type: 'tool.starting', call: CallId.parse(5), facts: factsFor('touch'), process: null }
    expect(decided(revoked, starting)).toBe('call.started')
  })
})

describe('trust for a turn', () => {
  const trusting = livedThrough(phases.thinking, asked({ type: 'setToolTrust', tool: 'touch', scope: 'turn' }))
  const fault = { kind: 'unreachable', message: 'gone' } as const
  const failed = (): Report =>
    ({ ...modelReplied(trusting), type: 'model.failed', parts: [], fault, usage: null }) as Report

  it.each([
    ['done', modelReplied(trusting)],
    ['aborted', asked({ type: 'abort' })],
    ['failed', failed()],
    ['interrupted by a crash', { type: 'process.restarted', draft: null }],
    ['interrupted by a clean stop', { type: 'process.stopped', draft: null }],
  ] as const)('ends when its turn is %s', (_, input) => {
    expect(trusting.trust).toHaveLength(1)
    const ended = livedThrough(trusting, input)
    expect(ended).toMatchObject({ trust: [], turn: { phase: 'idle' } })
  })

  it('ends when a follow-up begins the next turn in the same batch', () => {
    const followed = livedThrough(trusting, asked({ type: 'queueFollowUp', content: 'next' }))
    expect(livedThrough(followed, modelReplied(followed))).toMatchObject({ trust: [], turn: { number: 1 } })
  })

  it('given in an idle session covers the next turn, and ends with it', () => {
    const resting = livedThrough(phases.idle, asked({ type: 'setToolTrust', tool: 'touch', scope: 'turn' }))
    expect(resting).toMatchObject({ trust: [{ tool: 'touch', scope: 'turn' }], turn: { phase: 'idle' } })
    const running = livedThrough(resting, asked({ type: 'sendPrompt', content: 'go' }))
    expect(running.trust).toHaveLength(1)
    expect(livedThrough(running, asked({ type: 'abort' }))).toMatchObject({ trust: [], turn: { phase: 'idle' } })
  })

  it('does not return when the turn is continued', () => {
    expect(livedThrough(trusting, asked({ type: 'abort' }), asked({ type: 'continue' })).trust).toEqual([])
  })
})
