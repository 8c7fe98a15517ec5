import { type ActiveSkill, isOnLine } from '@holdfast/protocol'
import type { SessionState } from './state.ts'

/** A skill for the system text. `isRepeated`: the conversation had it, until a compaction. */
export type ToldSkill = { readonly name: string; readonly isRepeated: boolean }

/**
 * Returns the skills that the system text has to tell, the newest first: those that are not in the conversation, or no
 * longer in the model's window of it.
 */
export function skillsToTell({ skills, line, checkpoint, checkpoints }: SessionState): readonly ToldSkill[] {
  const keepFrom = checkpoints.find(({ seq }) => seq === checkpoint)?.keepFrom ?? 0
  const isInWindow = ({ since }: ActiveSkill) => since >= keepFrom && isOnLine(line, since)
  return skills
    .filter((skill) => !skill.inConversation || !isInWindow(skill))
    .map(({ name, inConversation }) => ({ name, isRepeated: inConversation === true }))
    .reverse()
}
