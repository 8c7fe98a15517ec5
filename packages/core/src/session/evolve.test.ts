import { Event, type EventType, messageEvents } from '@holdfast/protocol'
import {
  after,
  aHash,
  approvedBy,
  askedFor,
  callOf,
  type Given,
  queued,
  recordsOf,
  requested,
  settled,
  started,
  stepEnded,
  thinking,
  turnEnded,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { evolve } from './evolve.ts'
import { emptySession } from './state.ts'

const text = [{ type: 'text' as const, text: 'hi' }]
const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: 0.5 }
const granted = (tool: string, scope: 'turn' | 'session' | 'workspace'): Given => ({
  type: 'trust.granted',
  tool,
  scope,
})

describe('each event', () => {
  it.each<[EventType, readonly Given[], object]>([
    ['session.started', [], { seq: 1, origin: { workdir: '/work', key: null }, turn: { phase: 'idle', last: null } }],
    [
      'settings.changed',
      [{ type: 'settings.changed', mode: 'plan' }],
      { settings: { mode: 'plan', model: 'sim/model' } },
    ],
    ['context.changed', [{ type: 'context.changed', system: aHash, tools: aHash }], { context: { system: aHash } }],
    ['prompt.queued', [queued('steering', 'hi')], { queue: [{ id: 2, queue: 'steering', content: text }] }],
    [
      'queue.edited',
      [queued('steering'), { type: 'queue.edited', entry: 2, content: text }],
      { queue: [{ id: 2, content: text }] },
    ],
    [
      'queue.removed',
      [
        queued('steering'),
        queued('follow_up'),
        { type: 'queue.removed', entries: [{ id: 2, queue: 'steering', content: text }], recalled: true },
      ],
      { queue: [{ id: 3, queue: 'follow_up' }] },
    ],
    [
      'queue.reordered',
      [
        ...[queued('steering'), queued('follow_up'), queued('steering')],
        { type: 'queue.reordered', queue: 'steering', entries: [4, 2] },
      ],
      { queue: [{ id: 4 }, { id: 3 }, { id: 2 }] },
    ],
    ['user.said', [queued('steering'), { type: 'user.said', turn: 0, content: text, entry: 2 }], { queue: [] }],
    ['turn.started', thinking.slice(0, 1), { turns: 1, turn: { phase: 'preparing', number: 0, steps: 0 } }],
    ['step.started', thinking, { turn: { phase: 'thinking', step: 4, number: 0, steps: 1 } }],
    [
      'call.requested',
      [...thinking, callOf('shell')],
      { turn: { phase: 'acting', step: 4, calls: [{ id: 5, status: 'requested' }] } },
    ],
    [
      'step.ended',
      [...thinking, { ...stepEnded, usage } as Given],
      { used: usage, turn: { phase: 'preparing', isAnswered: true, steps: 1 } },
    ],
    ['text.said', [{ type: 'text.said', turn: 0, step: 4, text: 'hi', provider: 'sim' }], { lastAnswer: 2 }],
    [
      'approval.asked',
      [...requested, askedFor(5)],
      { turn: { calls: [{ status: 'asked', approval: 7, expiresAt: null }] } },
    ],
    ['trust.granted', [granted('a', 'session'), granted('a', 'session')], { trust: [{ tool: 'a', scope: 'session' }] }],
    [
      'trust.revoked',
      [granted('a', 'session'), granted('b', 'session'), { type: 'trust.revoked', tool: 'a' }],
      { trust: [{ tool: 'b' }] },
    ],
    ['call.approved', [...requested, approvedBy(5)], { turn: { calls: [{ status: 'approved', argsHash: aHash }] } }],
    [
      'call.started',
      [...requested, approvedBy(5), { type: 'call.started', call: 5 }],
      { turn: { calls: [{ status: 'started', process: null }] } },
    ],
    ['call.settled', [...requested, settled(5)], { turn: { phase: 'preparing', isAnswered: false, steps: 1 } }],
    [
      'turn.ended',
      [...thinking, turnEnded('aborted')],
      { turn: { phase: 'idle', last: { number: 0, reason: 'aborted' } } },
    ],
    [
      'line.moved',
      [{ type: 'line.moved', to: [{ from: 1, to: 1 }], turns: 3, why: 'rewind' }],
      { line: [{ from: 1, to: 1 }], turns: 3 },
    ],
    [
      'checkpoint.written',
      [{ type: 'checkpoint.written', turn: 0, summary: 's', keepFrom: 1, tokensBefore: 2, tokensAfter: 1 }],
      { checkpoint: 2 },
    ],
    ['message.pinned', [{ type: 'message.pinned', message: 5, pinned: true }], { pins: [5] }],
    [
      'message.pinned',
      [
        { type: 'message.pinned', message: 5, pinned: true },
        { type: 'message.pinned', message: 5, pinned: false },
      ],
      { pins: [] },
    ],
  ])('%s changes exactly what it says', (_, given, expected) => {
    expect(after(...given)).toMatchObject(expected)
  })

  it.each<[EventType, Given]>([
    ['thinking.said', { type: 'thinking.said', turn: 0, step: 4, text: 'hm', provider: 'sim' }],
    ['note.added', { type: 'note.added', turn: 0, kind: 'system', level: 'info', text: 'noted' }],
    ['log.repaired', { type: 'log.repaired', lost: [1] }],
  ])('%s moves nothing but the seq: state holds no message bodies', (_, given) => {
    const before = after(...thinking)
    expect(after(...thinking, given)).toEqual({ ...before, seq: before.seq + 1 })
  })

  it('is known to one of the two lists above', () => {
    expect(Event.options).toHaveLength(26)
    expect(messageEvents.length).toBeLessThan(Event.options.length)
  })
})

describe('the fold', () => {
  it('refuses a log with a hole', () => {
    const [first] = recordsOf([started], 3)
    expect(() => first && evolve(emptySession(), first)).toThrow('hole')
  })

  it('begins a fork at its base, on the line it inherits', () => {
    const fork = {
      lineage: [{ session: 'ses_01k9xyzabcdefghjkmnpqrstvw', upTo: 40 }],
      line: [
        { from: 1, to: 40 },
        { from: 41, to: null },
      ],
      turns: 4,
    }
    const [first] = recordsOf([{ ...started, fork } as Given], 41)
    expect(first && evolve(emptySession(40), first)).toMatchObject({ seq: 41, turns: 4, line: fork.line })
  })

  it('closes the round with the last call to settle, in whatever order', () => {
    const two = [...thinking, callOf('a'), callOf('b'), stepEnded]
    expect(after(...two, settled(6)).turn).toMatchObject({ phase: 'acting', calls: [{ id: 5 }] })
    expect(after(...two, settled(6), settled(5)).turn).toMatchObject({ phase: 'preparing' })
  })

  it('never believes in a call that started unapproved', () => {
    expect(() => after(...requested, { type: 'call.started', call: 5 })).toThrow('unapproved')
  })

  it('does not grow with the conversation', () => {
    const round = [...thinking.slice(2), stepEnded].map((event) => event)
    const short = JSON.stringify(after(...thinking, stepEnded)).length
    const long = JSON.stringify(after(...thinking, stepEnded, ...Array.from({ length: 50 }, () => round).flat())).length
    expect(long - short).toBeLessThan(20)
  })

  it('is plain data: a snapshot of it is its JSON', () => {
    const state = after(...requested, askedFor(5))
    expect(JSON.parse(JSON.stringify(state))).toEqual(state)
  })
})
