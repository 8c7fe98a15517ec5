import { z } from 'zod'
import type { SlashCommand } from '../command/slash-command.ts'
import { clip } from '../event/text-of.ts'
import { escapeLine } from '../text/hostile-text.ts'
import { didYouMean } from '../text/nearest.ts'
import { type Fault, fault } from '../value/fault.ts'
import type { Result } from '../value/result.ts'
import { ActiveSkill } from '../value/skill.ts'
import { SessionServer } from '../view/server.ts'

/** What is wrong with a file that a person wrote for the agent. */
export const GuidanceProblem = z.object({
  /** The file. */
  path: z.string(),
  /** The line, counted from 1; null if it is about the whole file. */
  line: z.int().min(1).nullable(),
  /** What is wrong, in a sentence. */
  message: z.string(),
})
export type GuidanceProblem = z.infer<typeof GuidanceProblem>

/** What the model knows of a skill. */
export const SkillState = z.enum(['listed', 'cut', 'hidden', 'untrusted', 'shadowed', 'unusable'])
export type SkillState = z.infer<typeof SkillState>

/** A skill of the user or of a workspace. */
export const FoundSkill = z.object({
  /** Its name: that of its folder, which is also what people type after a slash. */
  name: z.string(),
  /** What it is for. */
  description: z.string(),
  /** The arguments it takes, as its author writes them; null if it says nothing about them. */
  arguments: z.string().nullable(),
  /** Whose it is: the user's own, or from the files of the workspace. */
  scope: z.enum(['user', 'workspace']),
  /** Its folder. */
  folder: z.string(),
  /**
   * What the model knows of it. `listed`: its name and description. `cut`: only its name, because there are many. `hidden`:
   * nothing; people activate it. `untrusted`: nothing, until a person trusts it. `shadowed`: another one has its name.
   * `unusable`: its file cannot be read, or its folder has a name that cannot be used.
   */
  state: SkillState,
  /** The folder of the skill of the same name that is used instead; null unless it is shadowed. */
  shadowedBy: z.string().nullable(),
  /** Whether people can type its name after a slash. */
  isCommand: z.boolean(),
  /** The tools that its file asks for. Nothing is allowed by that. */
  allowedTools: z.array(z.string()),
  /** What is wrong with its file. */
  problems: z.array(GuidanceProblem),
})
export type FoundSkill = z.infer<typeof FoundSkill>

/** A skill, and whether the session follows it. */
export const ListedSkill = FoundSkill.extend({
  /** How it was activated; null if it is not active. */
  active: ActiveSkill.omit({ name: true }).nullable(),
})
export type ListedSkill = z.infer<typeof ListedSkill>

/** The skills of a session, the one that counts most first. */
export const SkillList = z.object({ skills: z.array(ListedSkill) })

/** Returns the fault for a skill that does not exist. */
export const noSuchSkill = (name: string, known: readonly string[] = []): Fault =>
  fault(
    'skill_not_found',
    `There is no skill ${escapeLine(clip(name, 100))}.${didYouMean(name, known) || ' List the skills with listSkills or holdfast skills.'}`,
    { name: clip(name, 100) },
  )

/** A kind of subagent, from a file of the user or of the workspace. */
export const ListedAgent = z.object({
  /** Its name, which the model uses. */
  name: z.string(),
  /** What it is for. */
  description: z.string(),
  /** Whose it is. */
  scope: z.enum(['built-in', 'user', 'workspace']),
  /** Its file; null for a built-in one. */
  path: z.string().nullable(),
  /**
   * `listed`: the model can use it. `untrusted`: not until a person trusts it. `shadowed`: another one has its name.
   * `unusable`: its file cannot be used.
   */
  state: z.enum(['listed', 'untrusted', 'shadowed', 'unusable']),
  /** The tools it may use, of those that the parent has; null for all. */
  tools: z.array(z.string()).nullable(),
  /** The model it asks for; null for that of its parent. */
  model: z.string().nullable(),
  /** What is wrong with its file. */
  problems: z.array(GuidanceProblem),
})
export type ListedAgent = z.infer<typeof ListedAgent>

export const AgentList = z.object({ agents: z.array(ListedAgent) })

/** The skills of a folder, the one that counts most first. */
export const FolderSkills = z.object({ skills: z.array(FoundSkill) })

/** A server of the Model Context Protocol that sessions of a folder can use. */
export const FolderServer = SessionServer.omit({ isOn: true })
export type FolderServer = z.infer<typeof FolderServer>

/** The servers of a folder, and what is wrong with the files that name them. */
export const FolderServers = z.object({ servers: z.array(FolderServer), problems: z.array(z.string()) })
export type FolderServers = z.infer<typeof FolderServers>

/** Lists what sessions of a folder can use. Refused: bad_workdir. */
export interface FolderLister {
  /** Lists the skills of the user and the workspace. */
  skills(workdir: string): Promise<Result<readonly FoundSkill[]>>
  /** Lists the kinds of subagents of the user and the workspace. */
  agents(workdir: string): Promise<Result<readonly ListedAgent[]>>
  /** Lists the MCP servers of the user and the workspace. Starts none. */
  servers(workdir: string): Promise<Result<FolderServers>>
  /** Lists the slash commands that the first prompt of a session can begin with. Starts no server. */
  commands(workdir: string): Promise<Result<readonly SlashCommand[]>>
}
