import type {
  ActiveSkill,
  BackgroundShell,
  BlobHash,
  ChildOutcome,
  DenialCode,
  FileChange,
  KeptBoundary,
  Output,
  Permission,
  Preview,
  ProcessMark,
  QuestionPreview,
  QuestionReply,
  Result,
  SeenFile,
  SeenLines,
  SessionId,
  StoredFile,
  Todo,
} from '@holdfast/protocol'
import type { ToolSubagents } from './guidance.ts'
import type { ToolSchema } from './provider.ts'
import type { LeftPath } from './workspace-files.ts'

/** The arguments of a call, as the model sent them. */
export type ToolArgs = { readonly [key: string]: unknown }

/**
 * A directory or file of Holdfast itself. In a directory that a person chose, such as that of a store, and that contains the
 * workdir, only the entries of these names are ours.
 */
export type OwnPath = string | { readonly directory: string; readonly names: RegExp }

/** Where a tool works, and what the session knows of it. */
export type ToolContext = {
  /** The folder that it works in. */
  readonly workdir: string
  /** The files that the session has seen. Absent in tests of a tool alone: then nothing is refused for being unseen. */
  readonly seen?: readonly SeenFile[] | undefined
  /** Directories and files of Holdfast itself, which no tool reads or changes. */
  readonly ownPaths?: readonly OwnPath[] | undefined
  /** The session of the call. Without it nothing can run on after the call. */
  readonly session?: SessionId | undefined
  /** The lines that tools may change, by file. */
  readonly boundaries?: readonly BoundedFile[] | undefined
  /** The session's own rules. */
  readonly permissions?: readonly Permission[] | undefined
  /** The `contentHash` that was approved, if the call is prepared again before it runs. */
  readonly approved?: BlobHash | undefined
  /** Opens a blob that the session refers to; absent in tests of a tool alone. */
  readonly openBlob?: ToolBlobs['open'] | undefined
}

/** A file with an edit boundary: tools may change only some of its lines. */
export type BoundedFile = KeptBoundary & {
  /** The content that its lines were counted in, where a tool has read it. */
  readonly counted?: Uint8Array | undefined
}

/** What is known of a call before the question is put: what would run, or why it cannot. */
export type Prepared =
  | {
      readonly type: 'ready'
      readonly args: ToolArgs
      readonly preview: Preview
      /** The whole text of a preview that the tool has cut itself, to be stored. It shows no hidden characters and no keys. */
      readonly whole?: Uint8Array | undefined
      /** Identifies the content that the preview was made from, so that no other content is changed. */
      readonly contentHash?: BlobHash | undefined
      /**
       * Why a person is asked about this call each time, whatever is trusted or allowed: a write into `.git`, for
       * example. Part of a sentence, shown with the question.
       */
      readonly alwaysAsk?: string | undefined
    }
  /** Wrong arguments, a path outside, a missing file: an error result, never a crash. */
  | {
      readonly type: 'unusable'
      readonly message: string
      /** Set if a rule of the session denies the call, and nothing is wrong with it otherwise. */
      readonly denied?: DenialCode | undefined
      /** Whether the message may quote a file. It is withheld if a rule asks a person about the call. */
      readonly quotesFile?: boolean | undefined
    }

/** The files of a session, for a tool that runs in it. */
export interface ToolBlobs {
  /** Stores bytes. They are kept if the result of the call names them. Throws `too_large` and `storage_error`. */
  put(bytes: Uint8Array): Promise<{ readonly hash: BlobHash; readonly bytes: number }>
  /** Opens what this call stored, or a file or long output that the session refers to. Throws `blob_not_found`. */
  open(hash: BlobHash): Promise<AsyncIterable<Uint8Array>>
}

/** What a session knows of itself, for a tool that runs in it. */
export type ToolSession = {
  /** The agent's list of tasks. */
  readonly todos: readonly Todo[]
  /** Returns the tools that the session offers to its model. */
  readonly offered: () => Promise<readonly Tool[]>
  /** The skills that it follows. */
  readonly skills: readonly ActiveSkill[]
  /** The MCP servers that it does not use. */
  readonly serversOff: readonly string[]
  /** Starts subagents for this call. */
  readonly subagents?: ToolSubagents | undefined
}

/** What a tool gets while it runs. */
export type ToolRun = {
  /** Aborts when the turn is stopped. */
  readonly signal: AbortSignal
  /** The hash that `prepare` returned. If the content is another now, the tool changes nothing and fails. */
  readonly contentHash?: BlobHash | undefined
  /**
   * Must be awaited before the tool changes anything. It resolves once the start is on stable storage, and rejects if
   * the call is no longer wanted. A tool that starts a process names it here.
   */
  readonly begin: (process?: ProcessMark) => Promise<void>
  /** Shows live output. */
  readonly show: (text: string) => void
  /**
   * Asks a person, once the call has begun. Resolves with `cancel` if nobody answers before the call ends. Absent in tests of a
   * tool alone.
   */
  readonly ask?: ((question: QuestionPreview) => Promise<QuestionReply>) | undefined
  /**
   * Stores output that is too long for a record; its `text` gets head, marker and tail. With `toText`, they get what it
   * returns, and bytes that it changed are stored as they were.
   */
  readonly storeOutput: (
    output: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    toText?: (text: string) => string,
  ) => Promise<Output>
  /**
   * Stores an image or a PDF file that the model shall see, for the `fileParts` of the output. Its type is recognised by
   * its bytes, and a large image is scaled down. Refused: `too_large`, `wrong_media_type`. Absent in tests of a tool alone.
   */
  readonly storeFile?: ((bytes: Uint8Array, name: string) => Promise<Result<StoredFile>>) | undefined
  /** What the session knows of itself, for the tools that tell the model; absent in tests of a tool alone. */
  readonly session?: ToolSession | undefined
  /** The files of the session; absent in tests of a tool alone. */
  readonly blobs?: ToolBlobs | undefined
  /**
   * Records what work of this call did to files after the call was settled. Call it when the work has ended: `look` gets
   * the context of that time. Never rejects: a failure is reported as a problem. Absent in tests of a tool alone.
   */
  readonly recordLater?: ((look: LookLater) => Promise<void>) | undefined
}

/** Finds out what work did to files after its call was settled. */
export type LookLater = (context: ToolContext, run: LaterRun) => Promise<FoundLater>

/** What a look at files after the end of a call can use. */
export type LaterRun = Pick<ToolRun, 'signal' | 'blobs'> & {
  /** Reads what the session did at each path that it changed since the call. */
  readonly left?: (() => Promise<ReadonlyMap<string, LeftPath>>) | undefined
}

/** What work did to files after its call was settled. */
export type FoundLater = {
  /** The files that it changed. */
  readonly files: readonly FileChange[]
  /** A sentence for people, if it changed lines that it may not change. */
  readonly notice?: string | undefined
}

/** The result of a call. */
export type ToolResult = {
  /** `failed` tells the model that the call did not work. */
  readonly type: 'ok' | 'failed'
  /** The text for the model, and the rest of a long output as a blob. */
  readonly output: Output
  /** The files of the workdir that the call changed. */
  readonly files?: readonly FileChange[] | undefined
  /** The lines of files that the model has seen now: those of the result, or what it wrote itself. */
  readonly seen?: readonly SeenLines[] | undefined
  /** The agent's new list of tasks, if the call wrote one. */
  readonly todos?: readonly Todo[] | undefined
  /** The skill that the call has told the model. The session follows it from now on. */
  readonly skill?: Pick<ActiveSkill, 'name' | 'hash'> | undefined
  /** The subagent that the call has waited for, and how its work ended. */
  readonly child?: { readonly session: SessionId; readonly status: ChildOutcome } | undefined
  /** A sentence for people about a process that still runs. */
  readonly leftRunning?: string | undefined
}

/** A tool that the agent can use. */
export interface Tool {
  /** The tool as it is described to the model. */
  readonly schema: ToolSchema
  /** Returns its schema in a folder; null if it is of no use there. Absent: it is the same everywhere. */
  readonly schemaIn?: ((workdir: string) => Promise<ToolSchema | null>) | undefined
  /** The MCP server that it belongs to. A session may turn a server off. */
  readonly server?: string | undefined
  /** The tool that lists those of its server. A session that offers that one offers this one too. */
  readonly listedBy?: string | undefined
  /** Changes something: denied in plan mode, asked for in exec mode. */
  readonly isDestructive: boolean
  /** Changes nothing: sessions with `readOnly` offer it too. */
  readonly isReadOnly: boolean
  /**
   * Other calls do not change what its `contentHash` covers, so its calls run at the same time. Those of other tools that
   * have a `contentHash` run one after the other.
   */
  readonly isIndependent?: boolean | undefined
  /**
   * Checks the call without changing anything. May run again after a crash. An abort ends it; its result is then ignored.
   * Work that may take longer than a few milliseconds runs on a thread.
   */
  prepare(args: ToolArgs, context: ToolContext, signal: AbortSignal): Promise<Prepared>
  /** Runs the call. Repeats the checks of `prepare`: files may have changed. */
  run(args: ToolArgs, context: ToolContext, run: ToolRun): Promise<ToolResult>
}

/** What tools have running for sessions outside their turns: commands in the background. */
export interface BackgroundWork {
  /** Returns what runs for this session, oldest first. */
  running(session: SessionId): readonly BackgroundCommand[]
  /** Returns the same and the ones that have ended, with how much each has printed, and the end of it. */
  list(session: SessionId): Promise<readonly BackgroundShell[]>
  /**
   * Finds out what running commands did so far to files with edit boundaries, and records it. Call it before a tool or a
   * person changes what the lines are counted in: later this could no longer be told apart. Never rejects.
   */
  look(session: SessionId): Promise<void>
  /** Returns what the model does not know yet of the commands of this session; null if it knows all. */
  news(session: SessionId): BackgroundNews | null
  /** Ends one command as `shell_stop` does. Resolves when its processes are dead. Refused: not_found. */
  stop(session: SessionId, id: string): Promise<Result<null>>
  /** Calls `listener` when something has started or ended for a session. */
  onChange(listener: (session: SessionId) => void): void
  /** Ends what runs for this session, or for all, and forgets its output. Resolves when the processes are dead. */
  end(session?: SessionId): Promise<void>
  /** Ends what dead processes of ours have left running. A starting process does this once. */
  endLeftovers(): Promise<void>
}

/** What the model does not know yet of commands in the background. */
export type BackgroundNews = {
  /** Sentences for the model, without anything that a command printed. */
  readonly text: string
  /** Whether a command changed lines that it may not change. */
  readonly isBreach: boolean
  /** Call it once the model gets the text. */
  readonly told: () => void
}

/** A command that runs in the background of a session. */
export type BackgroundCommand = { readonly id: string; readonly command: string; readonly startedAt: number }

/** The tools of a runtime. */
export interface Tools {
  /** Every tool, in the order in which models see them. */
  readonly all: readonly Tool[]
  /** Returns the tool of this name, or null. */
  find(name: string): Tool | null
  /**
   * Returns the tools that only this folder has: those of its servers. Servers that were never asked what they offer are
   * asked if one of the `needed` names is that of a tool of theirs. Absent: no folder has any.
   */
  readonly ofFolder?: ((workdir: string, needed?: readonly string[]) => Promise<readonly Tool[]>) | undefined
  /** Resolves when the descriptions of all tools are known: some depend on the machine. A step waits for it. */
  readonly whenDescribed?: ((workdir: string) => Promise<void>) | undefined
  /** Ends a process that a dead owner left running, if it is still the same process. */
  endLeftover(process: ProcessMark): Promise<void>
  /** What they have running outside turns; absent if they never have. */
  readonly background?: BackgroundWork | undefined
}

/** Saves notes for people in the workdir. */
export interface SummaryFiles {
  /** Writes a note under a new name made of date and title. Returns its path in the workdir. */
  save(workdir: string, title: string, text: string): Promise<Result<string>>
}
