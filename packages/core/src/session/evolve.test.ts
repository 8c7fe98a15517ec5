import { Event, type EventType, noUsage, TurnNumber } from '@holdfast/protocol'
import {
  aCheckpoint,
  aHash,
  aLineMove,
  approvedBy,
  aSession,
  askedFor,
  callOf,
  type EventInput,
  questionFor,
  queued,
  recordsOf,
  requested,
  settled,
  started,
  stateAfter,
  stepEnded,
  thinking,
  turnEnded,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, livedThrough } from '../testing/deciding.ts'
import { evolve } from './evolve.ts'
import { emptySession } from './state.ts'

const text = [{ type: 'text' as const, text: 'hi' }]
const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: 0.5 }
const boundary = (path: string, start: number): EventInput => ({
  type: 'boundary.set',
  path,
  start,
  end: 9,
  content: aHash,
})
const granted = (tool: string, scope: 'turn' | 'session' | 'workspace'): EventInput => ({
  type: 'trust.granted',
  tool,
  scope,
})

const hookRan = (changes: Partial<EventInput & { type: 'hook.ran' }>): EventInput => ({
  type: 'hook.ran',
  turn: 0,
  event: 'PreToolUse',
  hook: 'guard',
  source: 'user',
  outcome: 'ok',
  durationMs: 1,
  ...((changes.event ?? 'PreToolUse') === 'PreToolUse' && { about: 5 }),
  ...changes,
})

const aChildStarted = {
  type: 'child.started',
  call: 5,
  child: 'ses_01k9xyzabcdefghjkmnpqrstvy',
  agent: 'general',
  task: 'look',
  background: true,
} as const satisfies EventInput

describe('each event', () => {
  const changing: readonly (readonly [EventType, readonly EventInput[], object])[] = [
    ['session.started', [], { seq: 1, origin: { workdir: '/work', key: null }, turn: { phase: 'idle', last: null } }],
    [
      'settings.changed',
      [{ type: 'settings.changed', mode: 'plan' }],
      { settings: { mode: 'plan', model: 'sim/model' } },
    ],
    ['settings.changed', [{ type: 'settings.changed', pinned: true }], { isPinned: true }],
    [
      'settings.changed',
      [
        { type: 'settings.changed', pinned: true },
        { type: 'settings.changed', pinned: false },
      ],
      { isPinned: false },
    ],
    ['settings.changed', [{ type: 'settings.changed', workdir: '/moved' }], { origin: { workdir: '/moved' } }],
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
      [...thinking, { ...stepEnded, usage } as EventInput],
      { used: usage, turn: { phase: 'preparing', isAnswered: true, steps: 1 } },
    ],
    [
      'text.said',
      [{ type: 'text.said', turn: 0, step: 4, text: 'hi', provider: 'sim' }],
      { lastAnswer: { message: 2 } },
    ],
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
    [
      'boundary.set',
      [boundary('a', 1), boundary('a', 2), boundary('b', 3)],
      {
        boundaries: [
          { path: 'a', start: 2 },
          { path: 'b', start: 3 },
        ],
      },
    ],
    [
      'boundary.cleared',
      [boundary('a', 1), boundary('b', 2), { type: 'boundary.cleared', path: 'a' }],
      { boundaries: [{ path: 'b' }] },
    ],
    ['call.approved', [...requested, approvedBy(5)], { turn: { calls: [{ status: 'approved', argsHash: aHash }] } }],
    [
      'call.started',
      [...requested, approvedBy(5), { type: 'call.started', call: 5 }],
      { turn: { calls: [{ status: 'started', process: null }] } },
    ],
    [
      'question.asked',
      [...requested, approvedBy(5), { type: 'call.started', call: 5 }, questionFor(5)],
      { turn: { calls: [{ status: 'started', question: { approval: 9, expiresAt: null } }] } },
    ],
    [
      'question.answered',
      [
        ...[...requested, approvedBy(5), { type: 'call.started', call: 5 } as const, questionFor(5)],
        { type: 'question.answered', call: 5, question: 9, reply: { action: 'decline' } },
      ],
      { turn: { calls: [{ status: 'started' }] } },
    ],
    ['call.settled', [...requested, settled(5)], { turn: { phase: 'preparing', isAnswered: false, steps: 1 } }],
    [
      'turn.ended',
      [...thinking, turnEnded('aborted')],
      { turn: { phase: 'idle', last: { number: 0, reason: 'aborted' } } },
    ],
    [
      'line.moved',
      [aLineMove({ to: [{ from: 1, to: 1 }], turns: 3, why: 'rewind' })],
      { line: [{ from: 1, to: 1 }], turns: 3 },
    ],
    ['checkpoint.written', [aCheckpoint()], { checkpoint: 2 }],
    ['message.pinned', [{ type: 'message.pinned', message: 5, pinned: true }], { pins: [{ message: 5, tokens: 0 }] }],
    [
      'message.pinned',
      [
        { type: 'message.pinned', message: 5, pinned: true },
        { type: 'message.pinned', message: 5, pinned: false },
      ],
      { pins: [] },
    ],
    [
      'line.moved',
      [...thinking, turnEnded('aborted'), aLineMove({ keep: { name: 'branch-3', turns: 1, messages: 1 } })],
      {
        branch: null,
        branchesNamed: 3,
        branches: [
          { name: 'branch-3', turns: 1, messages: 1, line: [{ from: 1, to: 5 }], last: { reason: 'aborted' } },
        ],
        turn: { phase: 'idle', last: null },
      },
    ],
    [
      'line.moved',
      [aLineMove(), aLineMove({ name: 'branch-1', keep: { name: 'b', turns: 0, messages: 0 } })],
      { branch: 'branch-1', branches: [{ name: 'b' }] },
    ],
    ['checkpoint.written', [aCheckpoint({ keepFrom: 7 })], { checkpoints: [{ seq: 2, keepFrom: 7 }], tokens: 10 }],
    [
      'checkpoint.undone',
      [aCheckpoint(), aCheckpoint(), { type: 'checkpoint.undone', checkpoint: 3, holds: 2, tokens: 100 }],
      { checkpoint: 2, checkpoints: [{ seq: 2 }], tokens: 100, compaction: { isUndone: true } },
    ],
    [
      'note.added',
      [{ type: 'note.added', turn: 0, kind: 'notice', level: 'error', code: 'compaction_failed', text: 'no' }],
      { compaction: { failedAt: 0 } },
    ],
    [
      'call.requested',
      [{ type: 'call.requested', turn: 0, step: 2, tool: 'look', args: {}, provider: 'seed', givenId: 'a' }],
      { awaited: [{ call: 2, id: 'a' }], turn: { phase: 'idle' } },
    ],
    [
      'call.settled',
      [
        { type: 'call.requested', turn: 0, step: 2, tool: 'look', args: {}, provider: 'seed', givenId: 'a' },
        settled(2),
      ],
      { awaited: [], turn: { phase: 'idle' } },
    ],
    [
      'skill.activated',
      [{ type: 'skill.activated', name: 'tides', hash: 'a', by: 'person' }],
      { skills: [{ name: 'tides', hash: 'a', by: 'person', since: 2 }] },
    ],
    [
      'child.started',
      [...requested, approvedBy(5), { type: 'call.started', call: 5 }, aChildStarted],
      {
        children: [{ session: aChildStarted.child, call: 5, agent: 'general', isBackground: true }],
        turn: { calls: [{ id: 5, hasChild: true }] },
      },
    ],
    [
      'child.ended',
      [
        ...[...requested, approvedBy(5), { type: 'call.started' as const, call: 5 }, aChildStarted],
        { type: 'child.ended', call: 5, child: aChildStarted.child, status: 'completed' },
      ],
      { children: [] },
    ],
    [
      'skill.deactivated',
      [
        { type: 'skill.activated', name: 'tides', hash: 'a', by: 'person' },
        { type: 'skill.deactivated', name: 'tides' },
      ],
      { skills: [] },
    ],
    [
      'call.rewritten',
      [...requested, { type: 'call.rewritten', call: 5, args: { command: 'ls' }, hook: 'guard' }, approvedBy(5)],
      { turn: { calls: [{ id: 5, status: 'approved', rewritten: { seq: 7, by: 'guard' } }] } },
    ],
    [
      'hook.ran',
      [
        ...requested,
        hookRan({ permission: 'ask', context: 'Mind.' }),
        hookRan({ permission: 'allow', stop: 'Enough.' }),
      ],
      { turn: { stop: 'Enough.', calls: [{ id: 5, permission: { verdict: 'ask', by: 'guard' }, told: [7] }] } },
    ],
    [
      'hook.ran',
      [
        ...thinking,
        { type: 'step.ended', turn: 0, step: 4, finish: 'stop', usage: null },
        hookRan({ event: 'Stop', outcome: 'blocked', reason: 'Test it.' }),
      ],
      { turn: { phase: 'preparing', isAnswered: false, goneOn: 1 } },
    ],
    [
      'client.said',
      [{ type: 'client.said', event: { eventId: 'one', type: 'shown' }, complete: true }],
      { clientEventsComplete: true },
    ],
    [
      'message.collapsed',
      [{ type: 'message.collapsed', message: 5, collapsed: true }],
      { collapse: { all: false, except: [5] } },
    ],
    [
      'message.collapsed',
      [
        { type: 'message.collapsed', message: 5, collapsed: true },
        { type: 'message.collapsed', message: null, collapsed: true },
        { type: 'message.collapsed', message: 6, collapsed: false },
        { type: 'message.collapsed', message: 6, collapsed: true },
      ],
      { collapse: { all: true, except: [] } },
    ],
  ]
  it.each(changing)('%s changes exactly the listed fields', (_, given, expected) => {
    expect(stateAfter(...given)).toMatchObject(expected)
  })

  const counting: readonly (readonly [EventType, EventInput, number, number])[] = [
    ['thinking.said', { type: 'thinking.said', turn: 0, step: 4, text: 'hm', provider: 'sim' }, 1, 5],
    ['note.added', { type: 'note.added', turn: 0, kind: 'system', level: 'info', text: 'noted' }, 0, 0],
    ['summary.saved', { type: 'summary.saved', turn: 0, path: 'a.md', text: '# A', usage: noUsage }, 0, 0],
    ['session.forked', { type: 'session.forked', fork: aSession, base: 1, line: [{ from: 1, to: null }] }, 0, 0],
    ['hook.ran', hookRan({ event: 'Notification' }), 0, 0],
    ['log.repaired', { type: 'log.repaired', lost: [1] }, 0, 0],
    ['files.touched', { type: 'files.touched', call: 5, files: [{ path: 'a', change: 'deleted' }] }, 0, 0],
    ['files.restore_started', { type: 'files.restore_started', items: [] }, 0, 0],
    ['files.restored', { type: 'files.restored', items: [], refused: [{ path: 'a', why: 'changed' }] }, 0, 0],
    ['message.given', { type: 'message.given', turn: 0, message: { role: 'user', content: null }, records: 1 }, 0, 0],
    ['client.said', { type: 'client.said', event: { eventId: 'one', type: 'shown' } }, 0, 0],
    ['note.added', { type: 'note.added', turn: 0, kind: 'system', level: 'info', text: 'told', told: true }, 0, 5],
  ]
  it.each(counting)(
    '%s changes only the seq and the counts: state holds no message bodies',
    (_, given, messages, tokens) => {
      const before = stateAfter(...thinking)
      expect(stateAfter(...thinking, given)).toEqual({
        ...before,
        seq: before.seq + 1,
        messages: before.messages + messages,
        tokens: before.tokens + tokens,
      })
    },
  )

  it('is in one of the two lists above', () => {
    const listed = new Set([...changing, ...counting].map(([type]) => type))
    expect(Event.options.map((option) => option.shape.type.value).filter((type) => !listed.has(type))).toEqual([])
  })
})

describe('the fold', () => {
  it('rejects a log with a gap', () => {
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
      messages: 9,
      tokens: 80,
      last: { turn: 3, reason: 'aborted' },
      preview: 'hello',
      checkpoints: [{ seq: 20, keepFrom: 12, tokensBefore: 90, tokensAfter: 40, summaryTokens: 5 }],
      pins: [{ message: 5, tokens: 3 }],
    }
    const [first] = recordsOf([{ ...started, fork } as EventInput], 41)
    expect(first && evolve(emptySession(40), first)).toMatchObject({
      seq: 41,
      turns: 4,
      messages: 9,
      tokens: 80,
      line: fork.line,
      checkpoint: 20,
      pins: fork.pins,
      turn: { phase: 'idle', last: { number: 3, reason: 'aborted' } },
    })
  })

  it('closes the round when the last call settles, in any order', () => {
    const two = [...thinking, callOf('a'), callOf('b'), stepEnded]
    expect(stateAfter(...two, settled(6)).turn).toMatchObject({ phase: 'acting', calls: [{ id: 5 }] })
    expect(stateAfter(...two, settled(6), settled(5)).turn).toMatchObject({ phase: 'preparing' })
  })

  it('throws for a call that started without approval', () => {
    expect(() => stateAfter(...requested, { type: 'call.started', call: 5 })).toThrow('unapproved')
  })

  it('does not grow with the conversation', () => {
    const round = [...thinking.slice(2), stepEnded].map((event) => event)
    const short = JSON.stringify(stateAfter(...thinking, stepEnded)).length
    const long = JSON.stringify(
      stateAfter(...thinking, stepEnded, ...Array.from({ length: 50 }, () => round).flat()),
    ).length
    expect(long - short).toBeLessThan(20)
  })

  it('does not grow by switching branches without messages', () => {
    const moved = (times: number) => {
      let state = stateAfter(...thinking, stepEnded, turnEnded('done'))
      for (let time = 0; time < times; time++) {
        const command =
          time === 0 ? asked({ type: 'branchAt', turn: 0 }, { end }) : asked({ type: 'switchBranch', branch: 0 })
        state = livedThrough(state, command)
      }
      return JSON.stringify(state).length
    }
    const end = { seq: 6, turns: TurnNumber.parse(1), messages: 2, tokens: 9, last: null }
    expect(moved(101) - moved(3)).toBeLessThan(100)
  })

  it('is plain data, so that JSON can store it', () => {
    const state = stateAfter(...requested, askedFor(5))
    expect(JSON.parse(JSON.stringify(state))).toEqual(state)
  })
})
