import fc from 'fast-check'
import { accepted, refused } from '../state.ts'
import type { CommandTemplate, Family } from './family.ts'

export const activateSkill = (name: string): CommandTemplate => ({
  code: `activateSkill('${name}')`,
  command: () => ({ type: 'activateSkill', name }),
})
export const deactivateSkill = (name: string): CommandTemplate => ({
  code: `deactivateSkill('${name}')`,
  command: () => ({ type: 'deactivateSkill', name }),
})

/** Commands about the skills that the session follows. */
export const skillCommands: Family = {
  templates: [
    fc.constantFrom('tides', 'knots', 'missing').map(activateSkill),
    fc.constantFrom('tides', 'knots').map(deactivateSkill),
  ],
  rules: {
    activateSkill(state, { name }) {
      if (name === 'missing') return refused(state, 'skill_not_found')
      if (state.skills.includes(name)) return refused(state, 'skill_active')
      return accepted({ ...state, skills: [...state.skills, name] })
    },
    deactivateSkill(state, { name }) {
      if (!state.skills.includes(name)) return refused(state, 'skill_not_active')
      return accepted({ ...state, skills: state.skills.filter((one) => one !== name) })
    },
  },
}
