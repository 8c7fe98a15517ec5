import {
  type CommandOptions,
  type CommandResult,
  type ListedBranch,
  orThrow,
  type RestoreInput,
  type RestorePreview,
} from '@holdfast/protocol'
import { readOptions, requireOptions } from './arguments.ts'
import type { Requests } from './requests.ts'
import { type AddedMessage, toSeeds } from './seed-messages.ts'

/** How to go back to a turn. */
export type RewindOptions = CommandOptions & {
  /** Also puts the files back that calls changed since. */
  readonly files?: boolean | undefined
}

/** What a rewind did: the branch with what came after, and the files that were put back if it was asked to. */
export type Rewound = CommandResult<'rewind'> & {
  /** The files that were put back, and those that were not. */
  readonly files?: Pick<CommandResult<'restoreFiles'>, 'restored' | 'refused'> | undefined
}

/** Methods for the history: lines and branches, marks, compaction. */
export const createSessionHistory = ({ handle, submit }: Requests) => ({
  /** Goes back to the end of a turn (counted from 0). Returns the branch that saves the old line. */
  branchAt: (turn: number, options?: CommandOptions) => submit({ type: 'branchAt', turn }, options),
  /** Switches to a branch, by name or list index. Returns its name. The old line is saved. */
  switchBranch: (branch: string | number, options?: CommandOptions) =>
    submit({ type: 'switchBranch', branch }, options, { branch }),
  /** Returns the saved branches, oldest first. */
  listBranches: async (): Promise<readonly ListedBranch[]> => orThrow(await handle.branches()),
  /**
   * Goes back to the end of a turn. Returns the branch that saves what came after. With `files`, then puts the files back
   * that calls changed since, and returns which were.
   */
  async rewind(turn: number, given?: RewindOptions): Promise<Rewound> {
    const { files = false, ...options } = readOptions(given, ['files', 'commandId', 'as'])
    if (!files) return submit({ type: 'rewind', turn }, options)
    const { commandId } = options
    const own = commandId === undefined ? {} : { commandId: `${commandId.slice(0, 58)}-files` }
    // The messages first: the notice about the files then belongs to the line that goes on.
    const rewound = await submit({ type: 'rewind', turn }, options)
    const { restored, refused } = await submit({ type: 'restoreFiles', turn }, { ...options, ...own })
    return { ...rewound, files: { restored, refused } }
  },
  /**
   * Puts files back that calls of this session changed: as they were at the end of `turn`, before `message`, before `call`,
   * or before the last restore (`undo`). Only files that are still as the session left them; the others are refused, each
   * with a reason. The messages stay. Refused: turn_running, turn_not_found, message_not_found, nothing_to_undo, too_large.
   */
  restoreFiles: async (request: RestoreInput, options?: CommandOptions) =>
    submit({ type: 'restoreFiles', ...requireOptions(request) }, options),
  /** Returns what `restoreFiles` would do now, with a diff for each file. Changes nothing. */
  previewRestore: async (request: RestoreInput): Promise<RestorePreview> =>
    orThrow(await handle.previewRestore(request)),
  /** Creates a session that shares the history up to a turn, by default the last one that ended. Returns its id. */
  fork: (at?: number, options?: CommandOptions) => submit({ type: 'fork', ...(at !== undefined && { at }) }, options),
  /** Pins or unpins a message in the model's context. Returns whether it is pinned. */
  togglePin: (message: number, options?: CommandOptions) => submit({ type: 'togglePin', message }, options),
  /** Collapses or opens a tool call on every screen. Returns whether it is collapsed. */
  toggleToolCollapse: (message: number, options?: CommandOptions) =>
    submit({ type: 'toggleToolCollapse', message }, options),
  /** Opens all tool calls if any is collapsed; otherwise collapses all. */
  toggleAllToolCollapses: (options?: CommandOptions) =>
    submit({ type: 'toggleAllToolCollapses' }, options, { collapsed: false }),
  /** Appends messages from elsewhere, or those that `messages()` returned, without starting a turn. */
  seedMessages: async (messages: readonly AddedMessage[], options?: CommandOptions) =>
    submit({ type: 'seedMessages', messages: toSeeds(messages) }, options),
  /** Adds a message for people; it is never sent to the model. */
  addSystemMessage: (text: string, level: 'info' | 'error' = 'info', options?: CommandOptions) =>
    submit({ type: 'addSystemMessage', text, level }, options),
  /** Replaces old messages in the context by a summary. The transcript does not change. */
  compact: (options?: CommandOptions) => submit({ type: 'compact' }, options),
  /** Undoes the active compaction. Returns the estimated tokens of the context. */
  undoCompaction: (options?: CommandOptions) => submit({ type: 'undoCompaction' }, options),
  /** Adds the caller's own checkpoint: the model now gets these messages and what follows. */
  appendCheckpoint: async (messages: readonly AddedMessage[], tokenCount?: number, options?: CommandOptions) =>
    submit(
      { type: 'appendCheckpoint', messages: toSeeds(messages), ...(tokenCount !== undefined && { tokenCount }) },
      options,
    ),
  /** Writes a summary of the session to a file in the working directory. Returns its text and path. */
  summarize: (options?: CommandOptions) => submit({ type: 'summarize' }, options),
  /** Sets the summary that precedes the messages in the context. */
  setSummary: (summary: string, options?: CommandOptions) => submit({ type: 'setSummary', summary }, options),
  /** Keeps only the last messages. The whole line is saved as a branch. */
  truncateHistory: (keepLast: number, options?: CommandOptions) =>
    submit({ type: 'truncateHistory', keepLast }, options),
  /** Replaces the history by these messages. The old line is saved as a branch. */
  setHistory: async (messages: readonly AddedMessage[], options?: CommandOptions) =>
    submit({ type: 'setHistory', messages: toSeeds(messages) }, options),
})
