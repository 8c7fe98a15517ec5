import type { ActiveSkill, Result, SlashCommand } from '@holdfast/protocol'

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
  /** Lists the commands that can be used in a folder, by name. */
  list(workdir: string): Promise<readonly SlashCommand[]>
  /**
   * Expands a command with what was typed after its name; null for a text that only looks like a command. Refused:
   * command_not_found, untrusted_workspace.
   */
  expand(command: {
    readonly workdir: string
    readonly name: string
    readonly given: string
  }): Promise<Result<Expansion | null>>
}
