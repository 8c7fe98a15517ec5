import {
  BranchName,
  type CommandInput,
  invariant,
  type ListedBranch,
  type MessageId,
  orThrow,
  Seq,
  type SessionHandle,
  SessionId,
  type SubmitOptions,
} from '@holdfast/protocol'

/** A message from elsewhere. */
export type MessageSeed = Extract<CommandInput, { readonly type: 'seedMessages' }>['messages'][number]

export type Compaction = {
  /** The summary that replaces old messages. */
  readonly summary: string
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** Methods for the history: lines and branches, marks, compaction. */
export interface SessionHistory {
  /** Goes back to the end of a turn (counted from 0). Returns the branch that saves the old line. */
  branchAt(turn: number, options?: SubmitOptions): Promise<string>
  /** Switches to a branch, by name or list index. Returns its name. The old line is saved. */
  switchBranch(branch: string | number, options?: SubmitOptions): Promise<string>
  /** Returns the saved branches, oldest first. */
  listBranches(): Promise<readonly ListedBranch[]>
  /** Goes back to the end of a turn. Returns the branch that saves what came after. */
  rewind(turn: number, options?: SubmitOptions): Promise<string>
  /** Creates a session that shares the history up to a turn, by default the last one that ended. Returns its id. */
  fork(at?: number, options?: SubmitOptions): Promise<SessionId>
  /** Pins or unpins a message in the model's context. Returns whether it is pinned. */
  togglePin(message: number, options?: SubmitOptions): Promise<boolean>
  pinnedIds(): Promise<readonly MessageId[]>
  /** Collapses or opens a tool call on every screen. Returns whether it is collapsed. */
  toggleToolCollapse(message: number, options?: SubmitOptions): Promise<boolean>
  /** Opens all tool calls if any is collapsed; otherwise collapses all. */
  toggleAllToolCollapses(options?: SubmitOptions): Promise<boolean>
  /** Appends messages from elsewhere without starting a turn. */
  seedMessages(messages: readonly MessageSeed[], options?: SubmitOptions): Promise<void>
  /** Adds a message for people; it is never sent to the model. */
  addSystemMessage(text: string, level?: 'info' | 'error', options?: SubmitOptions): Promise<void>
  /** Replaces old messages in the context by a summary. The transcript does not change. */
  compact(options?: SubmitOptions): Promise<Compaction>
  /** Undoes the active compaction. Returns the estimated tokens of the context. */
  undoCompaction(options?: SubmitOptions): Promise<number>
  /** Adds the caller's own checkpoint: the model now gets these messages and what follows. */
  appendCheckpoint(messages: readonly MessageSeed[], tokenCount?: number, options?: SubmitOptions): Promise<void>
  /** Writes a summary of the session to a file in the working directory. */
  summarize(options?: SubmitOptions): Promise<{ readonly text: string; readonly path: string }>
  /** Sets the summary that precedes the messages in the context. */
  setSummary(summary: string, options?: SubmitOptions): Promise<void>
  /** Returns the summary of the active compaction; empty when there is none. */
  getSummary(): Promise<string>
  /** Keeps only the last messages. The whole line is saved as a branch. */
  truncateHistory(keepLast: number, options?: SubmitOptions): Promise<void>
  /** Replaces the history by these messages. The old line is saved as a branch. */
  setHistory(messages: readonly MessageSeed[], options?: SubmitOptions): Promise<void>
}

export function createSessionHistory(handle: SessionHandle): SessionHistory {
  const submit = async (command: CommandInput, options?: SubmitOptions) =>
    orThrow(await handle.submit(command, options)).result
  const done = async (command: CommandInput, options?: SubmitOptions) => {
    await submit(command, options)
  }

  return {
    branchAt: async (turn, options) => BranchName.parse((await submit({ type: 'branchAt', turn }, options))['branch']),
    async switchBranch(branch, options) {
      const { branch: taken } = await submit({ type: 'switchBranch', branch }, options)
      return BranchName.parse(taken ?? branch) // no result when it was the current branch
    },
    listBranches: async () => orThrow(await handle.branches()),
    rewind: async (turn, options) => BranchName.parse((await submit({ type: 'rewind', turn }, options))['branch']),
    async fork(at, options) {
      const { session } = await submit({ type: 'fork', ...(at !== undefined && { at }) }, options)
      return SessionId.parse(session)
    },
    togglePin: async (message, options) => (await submit({ type: 'togglePin', message }, options))['pinned'] === true,
    pinnedIds: async () => orThrow(await handle.snapshot()).view.pins,
    toggleToolCollapse: async (message, options) =>
      (await submit({ type: 'toggleToolCollapse', message }, options))['collapsed'] === true,
    toggleAllToolCollapses: async (options) =>
      (await submit({ type: 'toggleAllToolCollapses' }, options))['collapsed'] === true,
    seedMessages: (messages, options) => done({ type: 'seedMessages', messages: [...messages] }, options),
    addSystemMessage: (text, level = 'info', options) => done({ type: 'addSystemMessage', text, level }, options),
    async compact(options) {
      const { summary, tokensBefore, tokensAfter } = await submit({ type: 'compact' }, options)
      return { summary: textOf(summary), tokensBefore: Seq.parse(tokensBefore), tokensAfter: Seq.parse(tokensAfter) }
    },
    undoCompaction: async (options) => Seq.parse((await submit({ type: 'undoCompaction' }, options))['tokens']),
    appendCheckpoint: (messages, tokenCount, options) =>
      done(
        { type: 'appendCheckpoint', messages: [...messages], ...(tokenCount !== undefined && { tokenCount }) },
        options,
      ),
    async summarize(options) {
      const { text, path } = await submit({ type: 'summarize' }, options)
      return { text: textOf(text), path: textOf(path) }
    },
    setSummary: (summary, options) => done({ type: 'setSummary', summary }, options),
    getSummary: async () => orThrow(await handle.snapshot()).summary ?? '',
    truncateHistory: (keepLast, options) => done({ type: 'truncateHistory', keepLast }, options),
    setHistory: (messages, options) => done({ type: 'setHistory', messages: [...messages] }, options),
  }
}

function textOf(value: unknown): string {
  invariant(typeof value === 'string', 'a summary is a text')
  return value
}
