import { invariant, StepId } from '@holdfast/protocol'
import { type EventInput, stateAfter, thinking } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events, livedThrough, modelReplied, phases, stepPrepared } from '../../testing/deciding.ts'
import type { Report } from '../input.ts'
import type { SessionState } from '../state.ts'
import { viewOf } from '../view.ts'

const fault = { kind: 'rate_limited', message: 'The service is overloaded.' } as const
const stepOf = ({ turn }: SessionState) => (turn.phase === 'thinking' ? turn.step : StepId.parse(0))
const overloaded = (state: SessionState, fallback: string | null): Report => ({
  type: 'model.failed',
  step: stepOf(state),
  parts: [],
  fault,
  usage: null,
  fallback,
})
/** Seq 5: the session model could not answer, and a fallback is next. */
const fallen: readonly EventInput[] = [
  ...thinking,
  { type: 'step.ended', turn: 0, step: 4, finish: 'failed', usage: null, fault, fallback: 'other/model' },
]

describe('a step', () => {
  it('begins with what the model does not know yet of commands in the background', () => {
    const state = phases.preparing
    const news = { text: 'The command abcd has ended: exit code 0.', isBreach: false }
    const prepared = stepPrepared(state)
    invariant(prepared.type === 'step.prepared', 'it is prepared')
    expect(events(state, { ...prepared, news })).toMatchObject([
      { type: 'note.added', kind: 'notice', level: 'info', code: 'background', text: news.text, told: true },
      { type: 'context.changed' },
      { type: 'step.started' },
    ])
  })
})

describe('a call that is retried', () => {
  it('adds a notice with the failure, the wait and the try, without advice', () => {
    const advising = { ...fault, message: 'The service is overloaded. Wait a little, then continue.' }
    const retrying: Report = {
      type: 'model.retrying',
      step: StepId.parse(4),
      tries: 2,
      waitMs: 2143,
      fault: advising,
      happened: 'The service is overloaded.',
    }
    expect(events(phases.thinking, retrying)).toEqual([
      {
        type: 'note.added',
        turn: 0,
        kind: 'notice',
        level: 'info',
        code: 'retry',
        text: 'The service is overloaded. Trying again in 2.1 s: try 3 of 4.',
      },
    ])
    expect(livedThrough(phases.thinking, retrying).turn).toEqual(phases.thinking.turn)
  })
})

describe('a model that did not accept a call', () => {
  it('ends its turn if there is no fallback', () => {
    expect(decided(phases.thinking, overloaded(phases.thinking, null))).toBe('step.ended turn.ended')
  })

  it('falls back to another model, with a record and a notice', () => {
    expect(events(phases.thinking, overloaded(phases.thinking, 'other/model'))).toMatchObject([
      { type: 'step.ended', finish: 'failed', fault, fallback: 'other/model' },
      { type: 'note.added', kind: 'notice', code: 'fallback' },
    ])
  })

  it('gives the next step to the fallback, as an attempt that does not count as a step', () => {
    const state = stateAfter(...fallen)
    expect(state.turn).toMatchObject({ phase: 'preparing', isAnswered: false, attempt: 2, steps: 0 })
    expect(events(state, stepPrepared(state)).at(-1)).toMatchObject({
      type: 'step.started',
      model: 'other/model',
      attempt: 2,
    })
  })

  it('is replaced for the rest of the turn, whose later steps are first attempts', () => {
    const steered = livedThrough(
      stateAfter(...fallen),
      stepPrepared(stateAfter(...fallen)),
      asked({ type: 'queueSteering', content: 'on' }),
    )
    const next = livedThrough(steered, modelReplied(steered))
    expect(events(next, stepPrepared(next)).at(-1)).toMatchObject({ model: 'other/model', attempt: 1 })
  })

  it('is remembered, with all models tried after it', () => {
    const second = livedThrough(stateAfter(...fallen), stepPrepared(stateAfter(...fallen)))
    expect(livedThrough(second, overloaded(second, 'third/model')).turn).toMatchObject({
      fallback: { model: 'third/model', tried: ['sim/model', 'other/model'] },
    })
  })

  it('is the model of the session again when the turn is over', () => {
    const aborted = livedThrough(stateAfter(...fallen), asked({ type: 'abort' }), asked({ type: 'continue' }))
    expect(events(aborted, stepPrepared(aborted)).at(-1)).toMatchObject({ model: 'sim/model', attempt: 1 })
    expect(aborted.settings.model).toBe('sim/model')
  })
})

describe('a model that a person chooses during the turn', () => {
  const chosen: EventInput = { type: 'settings.changed', model: 'chosen/model' }

  it('answers instead of the fallback, even if there is none', () => {
    for (const fallback of ['other/model', null]) {
      const state = stateAfter(...thinking, chosen)
      const next = livedThrough(state, overloaded(state, fallback))
      expect(next.turn).toMatchObject({ phase: 'preparing', fallback: null })
      expect(events(next, stepPrepared(next)).at(-1)).toMatchObject({ model: 'chosen/model' })
    }
  })

  it('is called instead of the fallback', () => {
    const state = stateAfter(...fallen, chosen)
    expect(events(state, stepPrepared(state)).at(-1)).toMatchObject({ model: 'chosen/model' })
  })
})

describe('the view of a turn in which another model answers', () => {
  it('names that model and the model of the session', () => {
    expect(viewOf(stateAfter(...fallen))).toMatchObject({
      model: 'sim/model',
      fallback: 'other/model',
      activity: 'thinking',
    })
    expect(viewOf(stateAfter(...fallen, { type: 'turn.ended', turn: 0, reason: 'failed' })).fallback).toBeNull()
  })
})
