import { type EventInput, stateAfter } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events } from '../../testing/deciding.ts'
import { skillsToTell } from '../skills-to-tell.ts'

const activated = (name: string, more: object = {}): EventInput => ({
  type: 'skill.activated',
  name,
  hash: 'a',
  by: 'person',
  ...more,
})
const activate = (name: string, hash = 'a') => asked({ type: 'activateSkill', name }, { skill: { name, hash } })

describe('skills of a session', () => {
  it('are activated once, and again if their text has changed', () => {
    const state = stateAfter(activated('tides'))
    expect(events(stateAfter(), activate('tides'))).toEqual([activated('tides')])
    expect(decided(state, activate('tides'))).toBe('skill_active')
    expect(decided(state, activate('tides', 'b'))).toBe('skill.activated')
  })

  it('are deactivated once', () => {
    const state = stateAfter(activated('tides'))
    expect(decided(state, asked({ type: 'deactivateSkill', name: 'tides' }))).toBe('skill.deactivated')
    expect(decided(state, asked({ type: 'deactivateSkill', name: 'knots' }))).toBe('skill_not_active')
  })

  it('are at most 50: the oldest ends', () => {
    const names = Array.from({ length: 51 }, (_, each) => `s${each}`)
    expect(stateAfter(...names.map((name) => activated(name))).skills.map(({ name }) => name)).toEqual(names.slice(1))
  })

  it('are told in the system text, the newest first, unless the conversation has them', () => {
    const state = stateAfter(activated('a'), activated('b', { by: 'model', inConversation: true }), activated('c'))
    expect(skillsToTell(state)).toEqual([
      { name: 'c', isRepeated: false },
      { name: 'a', isRepeated: false },
    ])
  })

  it('are told again once the conversation that had them is summarised', () => {
    const state = stateAfter(activated('b', { by: 'model', inConversation: true }), {
      type: 'checkpoint.written',
      turn: 0,
      summary: 's',
      keepFrom: 9,
      tokensBefore: 9,
      tokensAfter: 1,
      why: 'asked',
      usage: null,
      model: 'demo/agent',
    } as EventInput)
    expect(skillsToTell(state)).toEqual([{ name: 'b', isRepeated: true }])
  })

  it('stay behind when the session moves to another folder', () => {
    expect(stateAfter(activated('a'), { type: 'settings.changed', workdir: '/else' }).skills).toEqual([])
  })
})
