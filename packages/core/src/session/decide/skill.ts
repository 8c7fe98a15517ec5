import { fault, noSuchSkill, ok, refuse } from '@holdfast/protocol'
import type { Facts } from '../facts.ts'
import type { CommandOf, Decided } from '../input.ts'
import type { SessionState } from '../state.ts'

/** Activates a skill. One that is active is activated again only if its text has changed. */
export function activateSkill(
  { skills }: SessionState,
  { name }: CommandOf<'activateSkill'>,
  { skill }: Facts,
): Decided {
  if (skill === undefined) return refuse(noSuchSkill(name))
  if (skills.some((one) => one.name === skill.name && one.hash === skill.hash))
    return refuse(fault('skill_active', `The skill ${name} is active already.`, { name }))
  return ok([{ type: 'skill.activated', ...skill, by: 'person' }])
}

/** Deactivates a skill. */
export function deactivateSkill({ skills }: SessionState, { name }: CommandOf<'deactivateSkill'>): Decided {
  if (skills.some((one) => one.name === name)) return ok([{ type: 'skill.deactivated', name }])
  const active = skills.map((one) => one.name)
  const message = `The skill ${name} is not active.${active.length > 0 ? ` Active: ${active.join(', ')}.` : ''}`
  return refuse(fault('skill_not_active', message, { name, active }))
}
