import { z } from 'zod'
import { ActiveSkill, SkillName } from '../value/skill.ts'

export const skillEvents = [
  /** The session follows a skill from now on. */
  z.object({ type: z.literal('skill.activated'), ...ActiveSkill.omit({ since: true }).shape }),
  /** The model is no longer told this skill. */
  z.object({ type: z.literal('skill.deactivated'), name: SkillName }),
] as const
