import { BlobHash, CallId, type HookRun, SessionId, StepId, TurnNumber } from '@holdfast/protocol'
import {
  aHash,
  approvedBy,
  aQuestion,
  askedFor,
  callOf,
  factsFor,
  questionFor,
  queued,
  requested,
  settled,
  stateAfter,
  stepEnded,
  thinking,
  turnEnded,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events, phases } from '../testing/deciding.ts'
import type { SessionCommandInput } from '../testing/each-command.ts'
import { decide } from './decide.ts'
import { evolve } from './evolve.ts'
import type { Report } from './input.ts'
import type { SessionState } from './state.ts'
import { answerOf } from './view.ts'

const prompt: SessionCommandInput = { type: 'sendPrompt', content: 'hello' }
const approve: SessionCommandInput = { type: 'respondToApproval', decision: 'approve' }

const aChild = SessionId.parse('ses_01k9xyzabcdefghjkmnpqrstvy')
const answered = stateAfter(...thinking, { type: 'step.ended', turn: 0, step: 4, finish: 'stop', usage: null })
const aHookRun = (changes: Partial<HookRun> = {}): HookRun => ({
  event: 'Stop',
  hook: 'sh check.sh',
  source: 'user',
  outcome: 'ok',
  durationMs: 1,
  ...changes,
})

describe('a report', () => {
  const call = CallId.parse(5)
  const step = StepId.parse(4)
  const hash = BlobHash.parse(aHash)
  const facts = factsFor('shell')
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: null }
  const preview = { type: 'arguments' as const, args: {} }
  const fault = { kind: 'unreachable', message: 'gone' } as const
  const turn = TurnNumber.parse(0)
  const reports = {
    'step.prepared': { type: 'step.prepared', turn, mode: 'exec', system: hash, tools: hash, checkpoint: null },
    'step.refused': { type: 'step.refused', turn, fault },
    'model.replied': { type: 'model.replied', step, parts: [{ type: 'text', text: 'hi' }], finish: 'stop', usage },
    'model.failed': { type: 'model.failed', step, parts: [], fault, usage: null },
    'model.retrying': { type: 'model.retrying', step, tries: 1, fault, waitMs: 1000 },
    'call.prepared': { type: 'call.prepared', call, found: { facts, argsHash: hash, preview }, atMs: 0 },
    'call.changed': { type: 'call.changed', call, found: { facts, argsHash: hash, preview }, atMs: 0 },
    'approval.expired': { type: 'approval.expired', call },
    'tool.starting': { type: 'tool.starting', call, facts, process: null },
    'tool.finished': {
      type: 'tool.finished',
      call,
      outcome: { type: 'ok', output: { text: '' } },
      durationMs: 1,
      files: [],
    },
    'step.capped': { type: 'step.capped', turn, fault: { code: 'spending_cap', message: 'The cap is reached.' } },
    'question.asked': { type: 'question.asked', call, preview: aQuestion(), atMs: 0 },
    'restore.starting': { type: 'restore.starting', items: [] },
    'files.found': { type: 'files.found', call, files: [{ path: 'a.txt', change: 'deleted' }] },
    'process.escaped': { type: 'process.escaped', tool: 'shell', text: 'sleep (17) still runs' },
    'title.written': { type: 'title.written', title: 'Harbour', model: 'sim/model', usage },
    'turn.finishing': { type: 'turn.finishing', turn, hooks: null },
    'hooks.ran': { type: 'hooks.ran', runs: [aHookRun()] },
    'child.starting': {
      type: 'child.starting',
      call: CallId.parse(5),
      child: aChild,
      agent: 'general',
      task: 'look',
      background: false,
    },
    'child.finished': {
      type: 'child.finished',
      child: aChild,
      status: 'completed',
      output: { text: 'found' },
      handle: null,
    },
    'task.given': { type: 'task.given', task: 'look', payer: 'local' },
    'trust.spread': { type: 'trust.spread', trust: { tool: 'look' }, isGranted: true, rule: 'trust: session' },
    'process.stopped': { type: 'process.stopped', draft: null },
    'process.restarted': { type: 'process.restarted', draft: null },
  } as const satisfies Record<Report['type'], Report>

  it.each<[Report['type'], SessionState, string]>([
    ['step.prepared', phases.preparing, 'context.changed step.started'],
    ['step.capped', phases.preparing, 'note.added turn.ended'],
    ['step.refused', phases.preparing, 'turn.ended'],
    ['model.replied', phases.thinking, 'text.said step.ended turn.ended'],
    ['model.failed', phases.thinking, 'step.ended turn.ended'],
    ['model.retrying', phases.thinking, 'note.added'],
    ['call.prepared', stateAfter(...requested), 'approval.asked'],
    ['call.changed', stateAfter(...requested, approvedBy(5)), 'approval.asked'],
    ['approval.expired', phases.asked, 'call.settled'],
    ['tool.starting', stateAfter(...requested, approvedBy(5)), 'call.started'],
    ['tool.finished', phases.started, 'call.settled'],
    ['question.asked', phases.started, 'question.asked'],
    ['restore.starting', phases.idle, 'files.restore_started'],
    ['files.found', phases.idle, 'files.touched'],
    ['process.escaped', phases.idle, 'note.added'],
    ['title.written', phases.idle, 'settings.changed'],
    ['turn.finishing', answered, 'turn.ended'],
    ['hooks.ran', phases.idle, 'hook.ran'],
    ['child.starting', phases.started, 'child.started'],
    ['trust.spread', phases.idle, 'trust.granted'],
    ['process.stopped', phases.thinking, 'step.ended turn.ended'],
    ['process.restarted', phases.thinking, 'step.ended turn.ended'],
  ])('%s counts while its effect is planned', (type, state, expected) => {
    expect(decided(state, reports[type])).toBe(expected)
  })

  it.each<[Report['type'], SessionState]>([
    ['step.prepared', phases.idle],
    ['step.prepared', phases.thinking],
    ['step.capped', phases.thinking],
    ['step.capped', phases.idle],
    ['step.refused', phases.thinking],
    ['model.replied', phases.preparing],
    ['model.replied', stateAfter(...thinking, turnEnded('aborted'))],
    ['model.failed', phases.idle],
    ['model.retrying', phases.idle],
    ['model.retrying', phases.preparing],
    ['model.retrying', stateAfter(...requested)],
    ['call.prepared', phases.asked],
    ['call.prepared', phases.idle],
    ['call.changed', phases.asked],
    ['call.changed', phases.started],
    ['approval.expired', phases.started],
    ['approval.expired', phases.idle],
    ['question.asked', phases.asked],
    ['question.asked', phases.idle],
    ['question.asked', stateAfter(...requested, approvedBy(5), { type: 'call.started', call: 5 }, questionFor(5))],
    ['tool.starting', phases.asked],
    ['tool.starting', phases.started],
    ['tool.finished', phases.asked],
    ['tool.finished', stateAfter(...requested, approvedBy(5), { type: 'call.started', call: 5 }, settled(5))],
    ['turn.finishing', phases.idle],
    ['turn.finishing', phases.preparing],
    ['title.written', stateAfter({ type: 'settings.changed', title: 'Mine' })],
    ['title.written', stateAfter({ type: 'settings.changed', title: '' })],
    ['child.starting', phases.asked],
    ['child.finished', phases.idle],
    ['task.given', phases.idle],
    ['process.stopped', phases.idle],
    ['process.restarted', phases.idle],
  ])('%s that is late or repeated changes nothing', (type, state) => {
    expect(decided(state, reports[type])).toBe('')
  })

  it('of a step that does not run is ignored', () => {
    expect(decided(phases.thinking, { ...reports['model.replied'], step: StepId.parse(3) })).toBe('')
    expect(decided(phases.thinking, { ...reports['model.failed'], step: StepId.parse(3) })).toBe('')
    expect(decided(phases.thinking, { ...reports['model.retrying'], step: StepId.parse(3) })).toBe('')
  })

  it('of a step prepared in another mode is out of date', () => {
    const planning = stateAfter(...thinking.slice(0, 2), { type: 'settings.changed', mode: 'plan' })
    expect(decided(planning, reports['step.prepared'])).toBe('')
  })

  it('of a start is refused if plan mode came after the approval', () => {
    const planning = stateAfter(...requested, approvedBy(5), { type: 'settings.changed', mode: 'plan' })
    expect(events(planning, reports['tool.starting'])).toMatchObject([
      { type: 'call.settled', call: 5, outcome: { type: 'denied', code: 'plan_mode' } },
      { type: 'note.added', kind: 'notice', code: 'plan_mode' },
    ])
  })

  it('keeps the text of a failed answer and drops its calls, which may be incomplete', () => {
    const parts = [
      { type: 'text', text: 'so' },
      { type: 'call', tool: 'shell', args: {} },
    ] as const
    const failed = events(phases.thinking, { ...reports['model.failed'], parts })
    expect(failed).toMatchObject([
      { type: 'text.said', interrupted: true },
      { type: 'step.ended' },
      { type: 'turn.ended' },
    ])
  })

  it('continues the turn if a steering prompt waits', () => {
    const steered = stateAfter(...thinking, queued('steering'))
    expect(decided(steered, reports['model.replied'])).toBe('text.said step.ended')
    const next = stateAfter(...thinking, queued('steering'), { ...stepEnded, finish: 'stop' } as typeof stepEnded)
    expect(decided(next, reports['step.prepared'])).toBe('user.said context.changed step.started')
  })

  it('settles a call with unreadable arguments in the same batch', () => {
    const parts = [{ type: 'call', tool: 'shell', args: {}, malformed: 'not JSON' }] as const
    const replied = events(phases.thinking, { ...reports['model.replied'], parts })
    expect(replied).toMatchObject([
      { type: 'call.requested' },
      { type: 'step.ended' },
      { type: 'call.settled', call: 5 },
    ])
  })

  it('ends a turn that reached its step limit, with the reason', () => {
    const limited = { ...phases.preparing, settings: { ...phases.preparing.settings, budgets: { maxSteps: 0 } } }
    expect(events(limited, reports['step.prepared'])).toMatchObject([{ code: 'step_limit' }, { reason: 'limit' }])
  })
})

describe('an approval', () => {
  const second = stateAfter(...thinking, callOf('a'), callOf('b'), stepEnded, askedFor(6), askedFor(5))

  it('without an id answers the first call that waits, whichever was asked first', () => {
    expect(events(second, asked(approve))).toMatchObject([{ type: 'call.approved', call: 5 }])
  })

  it('with an id answers that question', () => {
    expect(events(second, asked({ ...approve, approval: 9 } as SessionCommandInput))).toMatchObject([{ call: 5 }])
  })

  it('that was answered before names who answered it', () => {
    const late = asked({ ...approve, approval: 7 } as SessionCommandInput, { decided: { by: 'tui' } })
    expect(decide(phases.started, late)).toMatchObject({ fault: { code: 'already_decided', details: { by: 'tui' } } })
  })

  it('that does not exist is not found', () => {
    expect(decided(second, asked({ ...approve, approval: 77 } as SessionCommandInput))).toBe('approval_not_found')
  })

  it('that is rejected gives the model the reason, and does not affect other calls', () => {
    const no = asked({ type: 'respondToApproval', decision: 'reject', message: 'not today' })
    expect(events(second, no)).toMatchObject([{ call: 5, outcome: { type: 'denied', message: 'not today' } }])
    expect(events(second, no)).toHaveLength(1)
  })
})

describe('plan mode', () => {
  const preview = { type: 'arguments' as const, args: {} }
  const facts = factsFor('shell')
  const found = { facts, argsHash: BlobHash.parse(aHash), preview }
  const prepared = { type: 'call.prepared' as const, call: CallId.parse(5), found, atMs: 0 }

  it('denies calls that change something and cancels open questions', () => {
    const planning = stateAfter({ type: 'settings.changed', mode: 'plan' }, ...requested)
    const late = { ...prepared, call: CallId.parse(6) }
    expect(events(planning, late)).toMatchObject([
      { outcome: { type: 'denied', code: 'plan_mode' } },
      { type: 'note.added', kind: 'notice', code: 'plan_mode' },
    ])
    expect(events(phases.asked, asked({ type: 'enterPlan' }))).toMatchObject([
      { type: 'settings.changed', mode: 'plan' },
      { type: 'call.settled', call: 5, outcome: { type: 'interrupted', code: 'cancelled' } },
    ])
  })

  it('asks again once plan mode is left', () => {
    const modes = ['plan', 'exec'] as const
    const back = stateAfter(...requested, ...modes.map((mode) => ({ type: 'settings.changed' as const, mode })))
    expect(events(back, prepared)).toMatchObject([{ type: 'approval.asked', call: 5 }])
  })
})

describe('a restart', () => {
  it('keeps an unanswered question open and settles the calls that ran', () => {
    const state = stateAfter(...thinking, callOf('a'), callOf('b'), stepEnded, askedFor(5), approvedBy(6), {
      type: 'call.started',
      call: 6,
    })
    expect(events(state, { type: 'process.restarted', draft: null })).toMatchObject([
      { type: 'call.settled', call: 6, outcome: { type: 'interrupted', code: 'crashed' } },
    ])
  })

  it('keeps the draft of the answer it cut, and of no other', () => {
    const draft = (step: number) => ({ step: StepId.parse(step), parts: [{ type: 'text' as const, text: 'half' }] })
    const kept = events(phases.thinking, { type: 'process.restarted', draft: draft(4) })
    expect(kept[0]).toMatchObject({ type: 'text.said', text: 'half', interrupted: true })
    expect(decided(phases.thinking, { type: 'process.restarted', draft: draft(3) })).toBe('step.ended turn.ended')
  })
})

describe('a prompt', () => {
  it.each(['', '   ', '\n'])('without text (%j) is refused', (content) => {
    expect(decided(phases.idle, asked({ type: 'sendPrompt', content }))).toBe('empty_prompt')
  })

  it('is refused when the queue is full', () => {
    const full = stateAfter(...thinking, ...Array.from({ length: 64 }, () => queued('steering')))
    expect(decided(full, asked(prompt))).toBe('queue_full')
  })

  it('sent during a turn waits in the steering queue', () => {
    expect(events(phases.thinking, asked(prompt))).toMatchObject([{ type: 'prompt.queued', queue: 'steering' }])
  })

  it('is answered by its first record alone', () => {
    const [first] = events(phases.thinking, asked(prompt))
    if (!first) throw new Error('a prompt makes a record')
    expect(answerOf({ seq: 9, at: '', v: 1, event: first })).toEqual({ seq: 9, result: { queued: 'steering' } })
  })
})

describe('a continued turn', () => {
  it('keeps its number, because it is the same turn', () => {
    const [begun] = events(phases.failed, asked({ type: 'continue' }))
    expect(begun).toMatchObject({ type: 'turn.started', turn: 0, cause: 'continue' })
    if (begun) expect(evolve(phases.failed, { seq: phases.failed.seq + 1, at: '', v: 1, event: begun }).turns).toBe(1)
  })
})

const state = stateAfter({
  type: 'call.requested',
  turn: 0,
  step: 2,
  tool: 'look',
  args: {},
  provider: 'seed',
  givenId: 'a',
})
const cancelled = { type: 'call.settled', call: 2, outcome: { type: 'interrupted', code: 'cancelled' } }

describe('a call that a program has not answered', () => {
  it('is settled once a turn of the session begins', () => {
    expect(events(state, asked({ type: 'sendPrompt', content: 'go on' }))).toMatchObject([
      { type: 'turn.started' },
      { type: 'user.said' },
      cancelled,
    ])
  })

  it('is settled once its line is left, and stays open on the line it is on', () => {
    const left = events(state, asked({ type: 'setHistory', messages: [] }))
    expect(left).toMatchObject([{ type: 'line.moved' }, cancelled])
    const kept = events(
      state,
      asked({ type: 'truncateHistory', from: 2 }, { keepFrom: { seq: 2, tokens: 1, messages: 1 } }),
    )
    expect(kept.map(({ type }) => type)).toEqual(['line.moved'])
  })

  it('is not affected by other events', () => {
    expect(events(state, asked({ type: 'setSummary', summary: 'so far' })).map(({ type }) => type)).toEqual([
      'checkpoint.written',
    ])
  })
})
