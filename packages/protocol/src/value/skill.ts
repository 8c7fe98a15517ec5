import { z } from 'zod'
import { Seq } from './id.ts'
import { limits } from './limits.ts'

/** The name of a skill: that of its folder. */
export const SkillName = z.string().min(1).max(limits.skillNameCharsMax)

/** A skill that a session follows. */
export const ActiveSkill = z.object({
  /** Its name. */
  name: SkillName,
  /** Identifies the text that it had when it was activated. */
  hash: z.string().max(128),
  /** Who activated it: a person, or the model by its tool. */
  by: z.enum(['person', 'model']),
  /** Set if its text is in the conversation: in the result of a call or in a prompt. Otherwise it is in the system text. */
  inConversation: z.literal(true).optional(),
  /** The seq of the record that activated it. */
  since: Seq,
})
export type ActiveSkill = z.infer<typeof ActiveSkill>

/** Adds a skill, as the newest. Beyond the limit the oldest one ends. */
export const addSkill = (known: readonly ActiveSkill[], added: ActiveSkill): ActiveSkill[] =>
  [...known.filter(({ name }) => name !== added.name), added].slice(-limits.activeSkillsMax)

/** Removes a skill by its name. */
export const dropSkill = (known: readonly ActiveSkill[], name: string): ActiveSkill[] =>
  known.filter((one) => one.name !== name)
