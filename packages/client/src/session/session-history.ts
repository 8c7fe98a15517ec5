import {
  BranchName,
  type CommandInput,
  invariant,
  type ListedBranch,
  orThrow,
  Seq,
  SessionId,
  type SubmitOptions,
} from '@holdfast/protocol'
import type { Requests } from './requests.ts'

/** A message from elsewhere. */
export type MessageSeed = Extract<CommandInput, { readonly type: 'seedMessages' }>['messages'][number]

export type Compaction = {
  /** The summary that replaces old messages. */
  readonly summary: string
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** Methods for the history: lines and branches, marks, compaction. */
export type SessionHistory = ReturnType<typeof createSessionHistory>

export const createSessionHistory = ({ handle, submit, run }: Requests) => ({
  /** Goes back to the end of a turn (counted from 0). Returns the branch that saves the old line. */
  branchAt: async (turn: number, options?: SubmitOptions): Promise<string> =>
    BranchName.parse((await submit({ type: 'branchAt', turn }, options))['branch']),
  /** Switches to a branch, by name or list index. Returns its name. The old line is saved. */
  async switchBranch(branch: string | number, options?: SubmitOptions): Promise<string> {
    const { branch: taken } = await submit({ type: 'switchBranch', branch }, options)
    return BranchName.parse(taken ?? branch) // no result when it was the current branch
  },
  /** Returns the saved branches, oldest first. */
  listBranches: async (): Promise<readonly ListedBranch[]> => orThrow(await handle.branches()),
  /** Goes back to the end of a turn. Returns the branch that saves what came after. */
  rewind: async (turn: number, options?: SubmitOptions): Promise<string> =>
    BranchName.parse((await submit({ type: 'rewind', turn }, options))['branch']),
  /** Creates a session that shares the history up to a turn, by default the last one that ended. Returns its id. */
  async fork(at?: number, options?: SubmitOptions): Promise<SessionId> {
    const { session } = await submit({ type: 'fork', ...(at !== undefined && { at }) }, options)
    return SessionId.parse(session)
  },
  /** Pins or unpins a message in the model's context. Returns whether it is pinned. */
  togglePin: async (message: number, options?: SubmitOptions): Promise<boolean> =>
    (await submit({ type: 'togglePin', message }, options))['pinned'] === true,
  /** Collapses or opens a tool call on every screen. Returns whether it is collapsed. */
  toggleToolCollapse: async (message: number, options?: SubmitOptions): Promise<boolean> =>
    (await submit({ type: 'toggleToolCollapse', message }, options))['collapsed'] === true,
  /** Opens all tool calls if any is collapsed; otherwise collapses all. */
  toggleAllToolCollapses: async (options?: SubmitOptions): Promise<boolean> =>
    (await submit({ type: 'toggleAllToolCollapses' }, options))['collapsed'] === true,
  /** Appends messages from elsewhere without starting a turn. */
  seedMessages: (messages: readonly MessageSeed[], options?: SubmitOptions) =>
    run({ type: 'seedMessages', messages: [...messages] }, options),
  /** Adds a message for people; it is never sent to the model. */
  addSystemMessage: (text: string, level: 'info' | 'error' = 'info', options?: SubmitOptions) =>
    run({ type: 'addSystemMessage', text, level }, options),
  /** Replaces old messages in the context by a summary. The transcript does not change. */
  async compact(options?: SubmitOptions): Promise<Compaction> {
    const { summary, tokensBefore, tokensAfter } = await submit({ type: 'compact' }, options)
    return { summary: textOf(summary), tokensBefore: Seq.parse(tokensBefore), tokensAfter: Seq.parse(tokensAfter) }
  },
  /** Undoes the active compaction. Returns the estimated tokens of the context. */
  undoCompaction: async (options?: SubmitOptions): Promise<number> =>
    Seq.parse((await submit({ type: 'undoCompaction' }, options))['tokens']),
  /** Adds the caller's own checkpoint: the model now gets these messages and what follows. */
  appendCheckpoint(messages: readonly MessageSeed[], tokenCount?: number, options?: SubmitOptions) {
    const counted = tokenCount === undefined ? {} : { tokenCount }
    return run({ type: 'appendCheckpoint', messages: [...messages], ...counted }, options)
  },
  /** Writes a summary of the session to a file in the working directory. */
  async summarize(options?: SubmitOptions): Promise<{ readonly text: string; readonly path: string }> {
    const { text, path } = await submit({ type: 'summarize' }, options)
    return { text: textOf(text), path: textOf(path) }
  },
  /** Sets the summary that precedes the messages in the context. */
  setSummary: (summary: string, options?: SubmitOptions) => run({ type: 'setSummary', summary }, options),
  /** Keeps only the last messages. The whole line is saved as a branch. */
  truncateHistory: (keepLast: number, options?: SubmitOptions) => run({ type: 'truncateHistory', keepLast }, options),
  /** Replaces the history by these messages. The old line is saved as a branch. */
  setHistory: (messages: readonly MessageSeed[], options?: SubmitOptions) =>
    run({ type: 'setHistory', messages: [...messages] }, options),
})

function textOf(value: unknown): string {
  invariant(typeof value === 'string', 'a summary is a text')
  return value
}
