import type { FoundSkill, Result } from '@holdfast/protocol'

/** A skill as the model gets it. */
export type SkillText = {
  /** Its name. */
  readonly name: string
  /** Identifies the text without its arguments. */
  readonly hash: string
  /** Its instructions, and the names of its files. */
  readonly text: string
}

/** How to read a skill. */
export type SkillRequest = {
  /** The folder of the session. */
  readonly workdir: string
  /** The name of the skill. */
  readonly name: string
  /** What a person or the model gave after its name. */
  readonly arguments?: string | undefined
  /** A longer text is cut, with a note. */
  readonly charsMax: number
}

/** Names a file of a skill. */
export type SkillFileRequest = Pick<SkillRequest, 'workdir' | 'name'> & {
  /** Relative to the folder of the skill. */
  readonly path: string
}

/**
 * The skills of the user and of workspaces: texts that tell the model how to do something. Those of a workspace count once
 * a person trusts them.
 */
export interface Skills {
  /** Lists the skills for a folder, and what the system text says of them: nothing if there are none for the model. */
  list(workdir: string): Promise<{ readonly skills: readonly FoundSkill[]; readonly told: string }>
  /** Reads a skill by its name. Refused: skill_not_found, untrusted_workspace. */
  read(request: SkillRequest): Promise<Result<SkillText>>
  /** Reads a text file of a skill's folder. Refused: the same, and outside_workdir for a path that leads out of the folder. */
  readFile(request: SkillFileRequest): Promise<Result<string>>
}

/** The tool by which the model activates a skill. */
export const skillTool = 'skill'
