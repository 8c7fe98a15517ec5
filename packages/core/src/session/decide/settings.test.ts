import { Command, eventVersion, type RotationEntry, type ThinkingLevel } from '@holdfast/protocol'
import { type EventInput, requested, stateAfter, thinking } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events, phases } from '../../testing/deciding.ts'
import type { SessionCommandInput } from '../../testing/each-command.ts'
import { evolve } from '../evolve.ts'
import type { Facts } from '../facts.ts'
import type { SessionState } from '../state.ts'
import { answerOf, viewOf } from '../view.ts'

const standing = (model: string, thinkingLevel: ThinkingLevel = 'off') =>
  stateAfter({ type: 'settings.changed', model, thinkingLevel })

/** Returns the answer to a command, or its fault; undefined when nothing changes. */
function answered(state: SessionState, command: SessionCommandInput, facts: Facts): unknown {
  const [event] = events(state, asked(command, facts))
  if (!event) return decided(state, asked(command, facts)) || {}
  return answerOf({ seq: 9, at: '', v: 1, event }).result
}

const a: RotationEntry = { model: 'sim/a' }
const b: RotationEntry = { model: 'sim/b', thinkingLevel: 'high' }
const c: RotationEntry = { model: 'sim/c' }

describe('cycleModel', () => {
  const cycle = (state: SessionState, rotation: readonly RotationEntry[], direction?: 'next' | 'previous') =>
    answered(state, { type: 'cycleModel', ...(direction && { direction }) }, { rotation })

  it('goes to the next or the previous entry, and wraps around', () => {
    const rotation = [a, b, c]
    const total = 3
    const toB = { model: 'sim/b', index: 1, total, thinkingLevel: 'high' }
    const toC = { model: 'sim/c', index: 2, total, thinkingLevel: 'off' }
    expect([cycle(standing('sim/a'), rotation), cycle(standing('sim/a'), rotation, 'previous')]).toEqual([toB, toC])
    expect(cycle(standing('sim/c'), rotation)).toEqual({ model: 'sim/a', index: 0, total, thinkingLevel: 'off' })
  })

  it('sets the thinking level of the entry, or keeps the current level', () => {
    expect(cycle(standing('sim/a', 'low'), [a, b])).toMatchObject({ model: 'sim/b', thinkingLevel: 'high' })
    expect(cycle(standing('sim/b', 'high'), [a, b])).toMatchObject({ model: 'sim/a', thinkingLevel: 'high' })
  })

  it('starts at the first entry from a model outside, or backwards at the last', () => {
    expect(cycle(standing('sim/z'), [a, b, c])).toMatchObject({ index: 0 })
    expect(cycle(standing('sim/z'), [a, b, c], 'previous')).toMatchObject({ index: 2 })
  })

  it('distinguishes two entries of one model by their levels', () => {
    const rotation: readonly RotationEntry[] = [
      { model: 'sim/a', thinkingLevel: 'off' },
      { ...a, thinkingLevel: 'high' },
      c,
    ]
    expect(cycle(standing('sim/a', 'off'), rotation)).toMatchObject({ index: 1, thinkingLevel: 'high' })
    expect(cycle(standing('sim/a', 'high'), rotation)).toMatchObject({ index: 2, model: 'sim/c' })
  })

  it('is refused when there is no other entry, and says what to do', () => {
    expect([cycle(standing('sim/a'), []), cycle(standing('sim/a'), [a]), cycle(standing('sim/a'), [a, a])]).toEqual([
      'no_rotation',
      'no_rotation',
      'no_rotation',
    ])
    expect(cycle(standing('sim/z'), [a])).toMatchObject({ model: 'sim/a', index: 0, total: 1 })
  })

  it('does not add the rotation to the settings', () => {
    const state = standing('sim/a')
    const [event] = events(state, asked({ type: 'cycleModel' }, { rotation: [a, b] }))
    expect(event).toBeDefined()
    const next = event && evolve(state, { seq: state.seq + 1, at: '', v: 1, event })
    expect(next?.settings).toEqual({ ...state.settings, model: 'sim/b', thinkingLevel: 'high' })
  })
})

describe('cycleThinkingLevel', () => {
  const cycle = (level: ThinkingLevel, thinkingLevels?: readonly ThinkingLevel[]) =>
    answered(standing('sim/a', level), { type: 'cycleThinkingLevel' }, { thinkingLevels })

  it.each<[ThinkingLevel, ThinkingLevel]>([
    ['off', 'low'],
    ['low', 'medium'],
    ['medium', 'high'],
    ['high', 'off'],
  ])('goes from %s to %s', (from, to) => {
    expect(cycle(from)).toEqual({ thinkingLevel: to })
  })

  it('cycles through the levels that the model knows, from the lowest on', () => {
    expect([cycle('off', ['high', 'off']), cycle('high', ['high', 'off'])]).toEqual([
      { thinkingLevel: 'high' },
      { thinkingLevel: 'off' },
    ])
    expect(cycle('medium', ['high', 'off'])).toEqual({ thinkingLevel: 'off' })
  })

  it('changes nothing when the model knows only one level', () => {
    expect(cycle('off', ['off'])).toEqual({})
  })
})

const plan: EventInput = { type: 'settings.changed', mode: 'plan' }
const planSaid: EventInput = { type: 'text.said', turn: 0, step: 5, text: 'First this, then that.', provider: 'sim' }
const keep = asked({ type: 'enterExec', keepPlan: true })

describe('leaving plan mode', () => {
  it('with the plan kept pins the last answer', () => {
    expect(events(stateAfter(plan, ...thinking, planSaid, { ...planSaid, text: 'No: that.' }), keep)).toEqual([
      { type: 'settings.changed', mode: 'exec' },
      { type: 'message.pinned', message: 7, pinned: true, tokens: 7 },
    ])
  })

  it('pins nothing without keepPlan or without an answer', () => {
    expect(decided(stateAfter(plan, ...thinking, planSaid), asked({ type: 'enterExec' }))).toBe('settings.changed')
    expect(decided(stateAfter(plan), keep)).toBe('settings.changed')
  })

  it('keeps the plan even if plan mode was left before', () => {
    expect(decided(stateAfter(...thinking, { ...planSaid, step: 4 }), keep)).toBe('message.pinned')
    expect(decided(phases.idle, keep)).toBe('')
  })

  it('cancels no question', () => {
    expect(decided(stateAfter(...requested, plan), asked({ type: 'enterExec' }))).toBe('settings.changed')
  })
})

const pinned = stateAfter({ type: 'settings.changed', pinned: true })
const pin = (state: SessionState, to?: boolean) =>
  events(state, asked({ type: 'pinSession', ...(to !== undefined && { pinned: to }) }))

describe('pinning a session', () => {
  it('toggles or sets it, and records nothing when nothing changes', () => {
    expect(pin(stateAfter())).toEqual([{ type: 'settings.changed', pinned: true }])
    expect(pin(pinned)).toEqual([{ type: 'settings.changed', pinned: false }])
    expect(pin(stateAfter(), false)).toEqual([])
    expect(pin(pinned, true)).toEqual([])
    expect(pin(pinned, false)).toEqual([{ type: 'settings.changed', pinned: false }])
  })

  it('is not inherited by a fork', () => {
    expect(pinned.isPinned).toBe(true)
    expect(pinned.settings).toEqual(stateAfter().settings)
  })
})

describe('renaming a session', () => {
  const rename = (state: SessionState, title: string) => events(state, asked({ type: 'rename', title }))

  it('sets its title, without the spaces around it', () => {
    expect(rename(stateAfter(), '  Harbour works ')).toEqual([{ type: 'settings.changed', title: 'Harbour works' }])
  })

  it('changes nothing when the title is the same', () => {
    expect(rename(stateAfter({ type: 'settings.changed', title: 'Harbour' }), 'Harbour')).toEqual([])
    expect(rename(stateAfter(), '')).toEqual([])
  })

  it.each(['two\nlines', 'a tab\t in it', '\u001b[31mred', 'a\u2028b', 'x'.repeat(201)])(
    'refuses an invalid title: %j',
    (title) => {
      expect(Command.safeParse({ type: 'rename', title }).success).toBe(false)
    },
  )
})

describe('moving a session to another folder', () => {
  const trusted = stateAfter(
    { type: 'trust.granted', tool: 'shell', scope: 'workspace' },
    { type: 'trust.granted', tool: 'write_file', scope: 'session' },
  )
  const moved = stateAfter(
    { type: 'trust.granted', tool: 'shell', scope: 'workspace' },
    { type: 'trust.granted', tool: 'write_file', scope: 'session' },
    { type: 'settings.changed', workdir: '/new' },
  )

  it('records the resolved path', () => {
    const made = events(stateAfter(), asked({ type: 'moveWorkdir', workdir: '/link' }, { workdir: '/new' }))
    expect(made).toEqual([{ type: 'settings.changed', workdir: '/new' }])
    expect(events(moved, asked({ type: 'moveWorkdir', workdir: '/link' }, { workdir: '/new' }))).toEqual([])
  })

  it('drops the trust of the former workspace, and nothing else', () => {
    expect(trusted.trust).toHaveLength(2)
    expect(moved.trust).toEqual([{ tool: 'write_file', scope: 'session' }])
    expect(viewOf(moved).trust).toEqual(moved.trust)
    expect(moved.origin).toEqual({ ...trusted.origin, workdir: '/new' })
  })
})

describe('the answer to a catalogue command', () => {
  it.each([
    [{ type: 'settings.changed', pinned: false } as const, { pinned: false }],
    [{ type: 'settings.changed', title: '' } as const, { title: '' }],
    [{ type: 'settings.changed', workdir: '/new' } as const, { workdir: '/new' }],
    [{ type: 'settings.changed', mode: 'plan' } as const, {}],
  ])('matches its record: %j', (event, result) => {
    expect(answerOf({ seq: 7, at: '', v: eventVersion[event.type], event })).toEqual({ seq: 7, result })
  })
})
