import type {
  ActiveSkill,
  FoundSkill,
  InstructionFile,
  ListedAgent,
  Permission,
  Result,
  SlashCommand,
} from '@holdfast/protocol'
import type { ToolResult } from './tool.ts'

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

/** The name of the tool that describes other tools to the model. */
export const describingTool = 'describe_tools'

/** The tool by which the model activates a skill. */
export const skillTool = 'skill'

/** The tool by which the model starts a subagent. */
export const subagentTool = 'subagent'

/** The kind of a subagent whose call names none. */
export const generalAgent = 'general'

/** A kind of subagent, as a call uses it. */
export type AgentKind = {
  /** Its name. */
  readonly name: string
  /** The tools it may use, by our names; null for all that the parent has. */
  readonly tools: readonly string[] | null
  /** The tools it may not use. */
  readonly withoutTools: readonly string[]
  /** The model it asks for; null for that of the parent. */
  readonly model: string | null
  /** What it is told; empty if nothing. */
  readonly instructions: string
  /** Whether its calls run in the background if they do not say otherwise. */
  readonly background: boolean
}

/** The kinds of subagents of the user and of workspaces. Those of a workspace count once a person trusts them. */
export interface Agents {
  /** Lists the kinds for a folder, the one that counts most first. */
  list(workdir: string): Promise<readonly ListedAgent[]>
  /** Finds a kind by its name. Refused: bad_request for an unknown one, untrusted_workspace. */
  find(workdir: string, name: string): Promise<Result<AgentKind>>
}

/** Starts a subagent for a call. */
export type ToolSubagents = {
  /** Whether the call has started its subagent before: after a restart it only waits on. */
  readonly isStarted: boolean
  /** Starts a subagent. Returns its result, or its name if it runs in the background. Call `begin` first. */
  readonly run: (request: SubagentRequest) => Promise<ToolResult>
}

/** What a call wants a subagent to do. */
export type SubagentRequest = {
  /** The whole task. */
  readonly task: string
  /** The kind of agent. */
  readonly agent: string
  /** Whether the call does not wait for it. */
  readonly background: boolean
  /** The model that the call asks for. Refused if it cannot be called. */
  readonly model?: string | undefined
  /** The model that the kind of agent asks for. If it cannot be called, that of the parent is used. */
  readonly agentModel?: string | undefined
  /** The tools that the kind of agent may use, of those that the parent has; all when absent. `mcp__x` are all of a server. */
  readonly tools?: readonly string[] | null | undefined
  /** The tools that it may not use. */
  readonly withoutTools?: readonly string[] | undefined
  /** What the kind of agent is told. */
  readonly instructions?: string | undefined
}

/** A piece of an expanded command: a text, or a shell command whose output takes its place. */
export type ExpandedPiece =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'command'
      readonly command: string
      /** The piece as its author wrote it. */
      readonly source: string
    }

/** What a slash command is replaced by. */
export type Expansion =
  /** A prompt. `skill` is the one whose text it contains: the session follows it from then on. */
  | {
      readonly type: 'prompt'
      readonly pieces: readonly ExpandedPiece[]
      readonly skill?: Pick<ActiveSkill, 'name' | 'hash'> | undefined
    }
  /** A message for people; nothing is sent to the model. */
  | { readonly type: 'note'; readonly text: string }

/** The slash commands of a folder: built-in ones, skills, and files of the user and the workspace. */
export interface SlashCommands {
  /** Lists the commands that can be used in a folder, by name, without those of servers that are off. */
  list(workdir: string, serversOff: readonly string[]): Promise<readonly SlashCommand[]>
  /**
   * Expands a command with what was typed after its name; null for a text that only looks like a command. Refused:
   * command_not_found, untrusted_workspace, bad_request.
   */
  expand(command: {
    readonly workdir: string
    readonly name: string
    readonly given: string
    readonly serversOff: readonly string[]
  }): Promise<Result<Expansion | null>>
}

/** Gathers the system text of a session, again for each step. */
export interface Instructions {
  /** Returns the system text for this folder and mode. `added` are the session's own instructions. */
  gather(
    session: InstructedSession & {
      readonly mode: 'exec' | 'plan'
      readonly added: string | null
      /** Whether the model can activate skills, and so is told which there are. */
      readonly hasSkillTool: boolean
      /** The skills to tell, the most important first. `isRepeated`: the conversation had it, so a shorter text will do. */
      readonly skills: readonly { readonly name: string; readonly isRepeated: boolean }[]
      /** What hooks told the model when the session began here. */
      readonly hookContext?: string | null | undefined
    },
  ): Promise<string>
  /** Returns the files of instructions that are part of this text, in their order. */
  list(session: InstructedSession): Promise<readonly InstructionFile[]>
}

/** What decides which files of instructions a session has. */
export type InstructedSession = {
  /** The folder it works in. */
  readonly workdir: string
  /** The folders of the files that the model has seen, relative to the workdir: they may have instructions of their own. */
  readonly folders: readonly string[]
  /** The session's own rules: what they keep `read_file` from is not told either. */
  readonly permissions: readonly Permission[]
}
