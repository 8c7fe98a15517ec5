import {
  anInstant,
  approvedBy,
  askedFor,
  callOf,
  type EventInput,
  requested,
  settled,
  stateAfter,
  stepEnded,
  thinking,
  turnEnded,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { plan } from './plan.ts'

const owed = (...given: readonly EventInput[]) => plan(stateAfter(...given)).map(({ key }) => key)

describe('plan', () => {
  it('plans nothing for an idle session', () => {
    expect(owed()).toEqual([])
    expect(owed(...thinking, turnEnded('failed'))).toEqual([])
  })

  it('plans the next step between rounds, and the model call once the step is recorded', () => {
    expect(owed(...thinking.slice(0, 1))).toEqual(['prepare-step:0:0:exec'])
    expect(owed(...thinking)).toEqual(['call-model:4'])
    expect(owed(...requested, settled(5))).toEqual(['prepare-step:0:1:exec'])
  })

  it('plans another preparation when the mode changes', () => {
    expect(owed(...thinking.slice(0, 1), { type: 'settings.changed', mode: 'plan' })).toEqual(['prepare-step:0:0:plan'])
  })

  it('plans another preparation and another call when a model could not answer', () => {
    const failed = { ...stepEnded, finish: 'failed', fallback: 'other/model' } as EventInput
    expect(owed(...thinking, failed)).toEqual(['prepare-step:0:0:exec'])
    const again = { ...thinking[2], model: 'other/model', attempt: 2 } as EventInput
    expect(plan(stateAfter(...thinking, failed, again))).toEqual([
      { type: 'call-model', key: 'call-model:6', step: 6, model: 'other/model', thinkingLevel: 'off' },
    ])
  })

  it('runs no tool until someone approves it', () => {
    expect(owed(...requested)).toEqual(['prepare-call:5'])
    expect(owed(...requested, askedFor(5))).toEqual([])
    expect(owed(...requested, approvedBy(5))).toEqual(['run-tool:5'])
  })

  it('plans the timeout of a question until it is answered', () => {
    const timed = askedFor(5, { expiresAt: anInstant })
    expect(plan(stateAfter(...requested, timed))).toEqual([
      { type: 'await-approval', key: 'await-approval:5', call: 5, until: anInstant },
    ])
    expect(owed(...requested, timed, approvedBy(5))).toEqual(['run-tool:5'])
  })

  it('keeps a started call under the same key, so that it does not start twice', () => {
    expect(owed(...requested, approvedBy(5), { type: 'call.started', call: 5 })).toEqual(['run-tool:5'])
  })

  it('runs calls that need no approval beside one that waits', () => {
    expect(owed(...thinking, callOf('a'), callOf('b'), stepEnded, askedFor(5), approvedBy(6))).toEqual(['run-tool:6'])
  })
})
