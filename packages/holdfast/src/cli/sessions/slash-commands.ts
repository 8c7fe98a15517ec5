type CommandText = {
  readonly about: string
  readonly given?: string
  /** The same where lines are printed and nothing is drawn, if it differs. */
  readonly inLines?: { readonly about: string; readonly given?: string }
  /** Whether it is the session's command if something follows the name, such as `/model demo/agent`. */
  readonly isBare?: true
}

/**
 * The slash commands that a terminal carries out itself, on a screen and in lines. Those of the session come from the session:
 * see `SlashCommand`.
 */
export const slashCommands = {
  help: { about: 'show the keys and the commands', inLines: { about: 'list the commands' } },
  new: { about: 'start a new session here' },
  sessions: { about: 'list, search and open sessions', inLines: { about: 'list the sessions of this folder' } },
  search: { about: 'search the text of all sessions', given: '<text>' },
  model: { about: 'choose the model', isBare: true },
  think: { about: 'choose how much the model thinks', isBare: true },
  branches: { about: 'show the branches as a tree, and switch', inLines: { about: 'list the branches' } },
  switch: { about: 'choose a branch', isBare: true },
  rewind: { about: 'choose a turn to go back before', isBare: true },
  branch: { about: 'choose a turn to go back before', isBare: true },
  undo: {
    about: 'take the last turn back, with its file changes',
    inLines: { about: 'take the last turn back, with its file changes', given: '[yes]' },
  },
  files: { about: 'show the files that the session changed' },
  boundaries: {
    about: 'show, set and clear the lines that tools may change',
    given: '[<file> <lines> | clear [<file>]]',
  },
  agents: { about: 'show the subagents' },
  todos: { about: "show the agent's tasks" },
  skills: {
    about: 'list, activate and end skills',
    inLines: { about: 'list the skills; with a name, activate or end one', given: '[<name>]' },
  },
  trust: {
    about: 'show what runs without asking, and revoke it',
    inLines: { about: 'show what runs without asking, or revoke it', given: '[revoke <tool>]' },
  },
  screens: { about: 'show who is attached, and hand over', inLines: { about: 'show who is attached' } },
  drive: { about: 'take over from another screen' },
  transcript: { about: 'show the whole transcript' },
  fold: { about: 'fold or open all tool calls' },
  continue: { about: 'take an interrupted turn up again' },
  fork: {
    about: 'go on in a new session with the same past',
    inLines: { about: 'make a new session with the same past' },
  },
  uncompact: { about: 'give the model the messages before a summary back' },
  export: { about: 'write the session to a file', given: '[file.md|html|json|jsonl]' },
  mouse: { about: 'use the mouse in lists, or no longer' },
  quit: { about: 'leave' },
} as const satisfies Readonly<Record<string, CommandText>>

export type SlashName = keyof typeof slashCommands

/** Returns the texts of each command by its name. */
export const slashTexts = (): readonly (readonly [SlashName, CommandText])[] =>
  Object.entries(slashCommands) as [SlashName, CommandText][] // the keys are those of the table

/** Returns the command that a text is, with what is given to it; null for any other text. */
export function readSlashCommand(text: string): { readonly name: SlashName; readonly given: string } | null {
  const [, typed = '', given = ''] = /^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? []
  const [name, found] = slashTexts().find(([one]) => one === typed) ?? []
  return name === undefined || (found?.isBare && given !== '') ? null : { name, given: given.trim() }
}
