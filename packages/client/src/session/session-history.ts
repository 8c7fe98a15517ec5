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

/** A message as a program brings it from elsewhere. */
export type MessageSeed = Extract<CommandInput, { readonly type: 'seedMessages' }>['messages'][number]

export type Compaction = {
  /** What the model is told in place of the past. */
  readonly summary: string
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** What a program may do with the past of a session: which line it stands on, what is marked, what the model is told of it. */
export interface SessionHistory {
  /** Keeps the line so far as a branch, whose name is the answer, and stands at the end of that turn. Turns count from 0. */
  branchAt(turn: number, options?: SubmitOptions): Promise<string>
  /** Takes up a branch, by its name or its place in the list; the line that is left is kept. Answers with its name. */
  switchBranch(branch: string | number, options?: SubmitOptions): Promise<string>
  /** The lines that were left and kept, oldest first. */
  listBranches(): Promise<readonly ListedBranch[]>
  /** Stands at the end of that turn again; what came after is kept as the branch whose name is the answer. */
  rewind(turn: number, options?: SubmitOptions): Promise<string>
  /** A new session that shares the past of this one up to the end of that turn, or of the last that ended; answers with its id. */
  fork(at?: number, options?: SubmitOptions): Promise<SessionId>
  /** Keeps a message before the model for good, or no longer; answers whether it is pinned now. */
  togglePin(message: number, options?: SubmitOptions): Promise<boolean>
  pinnedIds(): Promise<readonly MessageId[]>
  /** Folds a tool call on every screen, or opens it; answers whether it is folded now. */
  toggleToolCollapse(message: number, options?: SubmitOptions): Promise<boolean>
  /** Any folded: all open. None: all fold. */
  toggleAllToolCollapses(options?: SubmitOptions): Promise<boolean>
  /** Adds messages from elsewhere to the line, without prompting. */
  seedMessages(messages: readonly MessageSeed[], options?: SubmitOptions): Promise<void>
  /** For people, never sent to the model. */
  addSystemMessage(text: string, level?: 'info' | 'error', options?: SubmitOptions): Promise<void>
  /** Tells the model a summary in place of what is long past. The transcript stays whole. */
  compact(options?: SubmitOptions): Promise<Compaction>
  /** Gives the model the line back; answers about how many tokens it is told now. */
  undoCompaction(options?: SubmitOptions): Promise<number>
  /** A checkpoint made by the caller: from here on the model is told these messages, and what follows. */
  appendCheckpoint(messages: readonly MessageSeed[], tokenCount?: number, options?: SubmitOptions): Promise<void>
  /** Writes what was decided, done and left open to a file of the workdir. */
  summarize(options?: SubmitOptions): Promise<{ readonly text: string; readonly path: string }>
  /** What the model is told before the messages it still sees. */
  setSummary(summary: string, options?: SubmitOptions): Promise<void>
  /** The summary of the compaction that holds; empty when none does. */
  getSummary(): Promise<string>
  /** Shows the last messages only; the whole line is kept as a branch. */
  truncateHistory(keepLast: number, options?: SubmitOptions): Promise<void>
  /** Replaces the line by these messages; the line that was is kept as a branch. */
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
      return BranchName.parse(taken ?? branch) // to the one it stands on: nothing happened, and nothing is told
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
