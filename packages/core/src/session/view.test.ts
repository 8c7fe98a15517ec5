import { addToView } from '@holdfast/protocol'
import {
  aHash,
  approvedBy,
  askedFor,
  callOf,
  type EventInput,
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
import { evolve } from './evolve.ts'
import { emptySession } from './state.ts'
import { viewOf } from './view.ts'

const view = (...given: readonly EventInput[]) => viewOf(stateAfter(...given))
/** A turn whose first model could not answer. */
const fallen = (turn: number, fallback: string): readonly EventInput[] => [
  { type: 'turn.started', turn, cause: 'prompt' },
  { type: 'step.started', turn, model: 'other/model', thinkingLevel: 'off', attempt: 1 },
  { type: 'step.ended', turn, step: 99, finish: 'failed', usage: null, fallback },
]
const words = [{ type: 'text' as const, text: 'wait' }]

describe('the view', () => {
  it('is thinking in a turn and idle after it', () => {
    expect(view()).toMatchObject({ status: 'idle', activity: 'idle', lastTurn: null })
    expect(view(...thinking)).toMatchObject({ status: 'thinking', step: 4 })
    expect(view(...thinking, turnEnded('done'))).toMatchObject({
      status: 'idle',
      step: null,
      lastTurn: { reason: 'done' },
    })
  })

  it('is executing tools while calls are open', () => {
    expect(view(...requested)).toMatchObject({ status: 'tool_executing', activeToolCalls: [{ id: 5, tool: 'shell' }] })
    expect(view(...requested, settled(5))).toMatchObject({ status: 'thinking', activeToolCalls: [] })
  })

  it('shows an error after a failed turn, until the next prompt', () => {
    expect(view(...thinking, turnEnded('failed')).status).toBe('error')
    expect(view(...thinking, turnEnded('failed'), { type: 'turn.started', turn: 1, cause: 'prompt' }).status).toBe(
      'thinking',
    )
  })

  it('shows plan while idle in plan mode', () => {
    expect(view({ type: 'settings.changed', mode: 'plan' }).status).toBe('plan')
    expect(view({ type: 'settings.changed', mode: 'plan' }, ...thinking).status).toBe('thinking')
  })

  it('shows open questions, the oldest first', () => {
    const two = [...thinking, callOf('shell'), callOf('shell'), stepEnded, askedFor(6), askedFor(5)]
    expect(view(...two).pendingApprovals.map(({ call }) => call)).toEqual([6, 5])
    expect(view(...two, approvedBy(6)).pendingApprovals.map(({ call }) => call)).toEqual([5])
  })

  it('is the same whether it is folded or followed', () => {
    const rounds = [
      ...thinking,
      queued('steering'),
      callOf('shell'),
      callOf('shell'),
      stepEnded,
      askedFor(7),
      askedFor(6),
      approvedBy(6),
    ]
    const log = recordsOf([
      started,
      ...rounds,
      { type: 'call.started', call: 6 },
      settled(6),
      settled(7),
      { type: 'user.said', turn: 0, content: words, entry: 5 },
      ...[queued('steering', 'a'), queued('follow_up', 'b'), queued('steering', 'c'), queued('steering', 'd')],
      { type: 'queue.reordered', queue: 'steering', entries: [19, 16, 18] },
      { type: 'queue.edited', entry: 17, content: words },
      { type: 'queue.removed', entries: [{ id: 16, queue: 'steering', content: words }], recalled: true },
      { type: 'trust.granted', tool: 'shell', scope: 'turn', argsHash: aHash },
      { type: 'trust.granted', tool: 'touch', scope: 'session' },
      { type: 'trust.granted', tool: 'touch', scope: 'session' },
      { type: 'trust.granted', tool: 'look', scope: 'workspace' },
      { type: 'trust.revoked', tool: 'touch' },
      turnEnded('failed'),
      { type: 'trust.revoked', tool: null },
      { type: 'message.pinned', message: 3, pinned: true },
      { type: 'settings.changed', mode: 'plan', model: 'other/model' },
      ...fallen(1, 'third/model'),
      turnEnded('failed'),
      ...fallen(2, 'third/model'),
      { type: 'settings.changed', model: 'fourth/model' },
      ...fallen(3, 'fourth/model'),
    ])
    let state = emptySession()
    let followed = viewOf(state)
    for (const record of log) {
      state = evolve(state, record)
      followed = addToView(followed, record)
      expect(followed, `after ${record.seq} ${record.event.type}`).toEqual(viewOf(state))
    }
  })
})
