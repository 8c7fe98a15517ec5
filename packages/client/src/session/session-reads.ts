import {
  type BackgroundShell,
  BlobHash,
  type ChildView,
  type ClientEventPage,
  ClientId,
  type DiffInput,
  type FileChangePage,
  type FileDiff,
  type FileLines,
  type FileLinesRequest,
  type FrameOf,
  type InstructionFile,
  type ListedBoundary,
  type ListedSkill,
  listActiveTrust,
  type Message,
  type MessageId,
  type ModelFault,
  orThrow,
  type PageRequest,
  type PendingApproval,
  parseOptions,
  type QueueEntry,
  type Role,
  type Seq,
  type SessionHandle,
  type SessionServer,
  type SlashCommand,
  type StateFields,
  type Status,
  type StorageError,
  type StoredClientEvent,
  type StoredFileChange,
  type SubagentContext,
  type Todo,
  type TouchedFile,
  type TouchedFiles,
  type TranscriptPage,
} from '@holdfast/protocol'
import { readOptions, requireText } from './arguments.ts'
import { createMessageList, type MessageList } from './message-list.ts'
import type { Requests } from './requests.ts'
import { readTouched } from './touched-files.ts'

/** Which line to read. */
export type LineOptions = Pick<PageRequest, 'branch'>

/** Where to start reading client events. */
export type ClientEventsOptions = {
  /** Only events after this seq; all when absent. */
  readonly after?: Seq | undefined
}

/** Methods for reading. Those about its state read no message, so a long session costs no more than a short one. */
export function createSessionReads({ handle, state, snapshot }: Requests) {
  const messages = (options?: LineOptions): MessageList => createMessageList(handle, options)
  return {
    /** Returns the whole line, oldest first, or a saved branch: `await` it, or loop over it with `for await`. */
    messages,
    /** Returns the whole line with the id of each message. */
    async messagesWithIds(
      options?: LineOptions,
    ): Promise<readonly { readonly id: MessageId; readonly message: Message }[]> {
      return (await messages(options)).map((message) => ({ id: message.id, message }))
    },
    /** Returns a page of the transcript, by default the newest one. */
    page: async (request?: PageRequest): Promise<TranscriptPage> => orThrow(await handle.page(request)),
    /** Returns the bytes of a file or long output that this session refers to. Refused: blob_not_found. */
    blob: async (hash: string): Promise<AsyncIterable<Uint8Array>> =>
      orThrow(await handle.blob(orThrow(parseOptions(BlobHash, hash, 'read a blob')))),
    /** Returns the whole state with the newest page of the transcript, as of `seq`. */
    snapshot: (): Promise<FrameOf<'snapshot'>> => snapshot(),
    /** Returns the stored events of clients, oldest first; a loop reads them page by page. */
    async *clientEvents(options?: ClientEventsOptions): AsyncGenerator<StoredClientEvent, void, undefined> {
      const { after } = readOptions(options, ['after'])
      for (let cursor: Seq | null | undefined = after; cursor !== null; ) {
        const page: ClientEventPage = orThrow(await handle.clientEvents({ after: cursor }))
        yield* page.events
        cursor = page.after
      }
    },
    /** Returns the agent's list of tasks, as it last wrote it. */
    todos: async (): Promise<readonly Todo[]> => (await state('todos')).todos,
    /** Returns the edit boundaries: the lines of files that tools may change, as they are counted now. */
    boundaries: async (): Promise<readonly ListedBoundary[]> => orThrow(await handle.boundaries()),
    /** Returns the lines of a file that tools may change, or null if it has no boundary. */
    async boundaryFor(path: string): Promise<Omit<ListedBoundary, 'path'> | null> {
      requireText(path, 'a path')
      const asked = pathInside((await state('meta')).meta.workspace, path)
      const found = orThrow(await handle.boundaries()).find((one) => one.path === asked)
      if (found === undefined) return null
      const { path: _, ...lines } = found
      return lines
    },
    /** Returns lines of a text file of the workdir, counted from 0. Refused: outside_workdir, not_found, too_large, bad_request. */
    readFile: async (path: string, options?: Omit<FileLinesRequest, 'path'>): Promise<FileLines> =>
      orThrow(await handle.readFile({ ...readOptions(options, ['start', 'limit']), path })),
    /**
     * Returns the commands in the background, oldest first: those that run, and those that have ended since the session was
     * loaded. Empty if another process runs the session.
     */
    backgroundShells: async (): Promise<readonly BackgroundShell[]> => orThrow(await handle.backgroundShells()),
    /** Returns the MCP servers of the user and the workspace as they are now, and which of them this session uses. None is started. */
    listServers: async (): Promise<readonly SessionServer[]> => orThrow(await handle.servers()),
    /**
     * Returns the skills of the user and the workspace as they are now: what the model knows of each, what is wrong with its
     * file, and whether the session follows it.
     */
    listSkills: async (): Promise<readonly ListedSkill[]> => orThrow(await handle.skills()),
    /** Returns the files of instructions, such as `AGENTS.md`, that the model is told at its next step. Later ones count more. */
    instructionFiles: async (): Promise<readonly InstructionFile[]> => orThrow(await handle.instructionFiles()),
    /**
     * Returns the slash commands that can be used now, by name: built in, skills, and files of the user and the workspace.
     * A prompt that begins with one is replaced by what it says.
     */
    getCommands: async (): Promise<readonly SlashCommand[]> => orThrow(await handle.commands()),
    /** Returns the subagents of this session and of its subagents, oldest first, with the approvals they wait for. */
    subagents: async (): Promise<readonly ChildView[]> => orThrow(await handle.subagents()),
    /** Returns what a subagent would inherit if it started now, and why none can start. */
    subagentContext: async (): Promise<SubagentContext> => orThrow(await handle.subagentContext()),
    /** Returns what the calls of this session did to files, newest first; a loop reads them page by page. */
    fileChanges: (): AsyncGenerator<StoredFileChange, void, undefined> => readFileChanges(handle),
    /**
     * Returns the files that this session changed, each once with its newest change, newest first. Files that were put back
     * as they were before the session are not among them. Of more than 20,000 changes only the newest are read: then the list
     * has `isCut`, and `fileChanges` has all.
     */
    async touchedFiles(): Promise<readonly TouchedFile[] & Pick<TouchedFiles, 'isCut'>> {
      const { files, isCut } = orThrow(await readTouched(handle))
      return Object.assign([...files], isCut && { isCut })
    },
    /**
     * Returns what this session did to files as one diff a file: of a `turn`, of a `call`, or from before its first change
     * until now. `path` picks one file. Refused: turn_not_found, message_not_found.
     */
    diffChanges: async (request?: DiffInput): Promise<readonly FileDiff[]> =>
      orThrow(await handle.diffChanges(request)).files,
    /** Returns whether the client events cover the whole session. */
    clientEventsComplete: async () => (await state('clientEventsComplete')).clientEventsComplete,
    /** Returns whether the session is idle, works or waits for an answer. */
    status: async (): Promise<Status> => (await state('status')).status,
    /** Returns the row of this session in a list: title, workspace, model, counts, usage. */
    metadata: async () => (await state('meta')).meta,
    /** Returns the ids of the pinned messages. */
    pinnedIds: async (): Promise<readonly MessageId[]> => (await state('pins')).pins,
    /** Returns the calls that are not settled yet. */
    activeToolCalls: async () => (await state('activeToolCalls')).activeToolCalls,
    /** Returns the prompts that wait in the queues. */
    getQueuedMessages: async (): Promise<readonly QueueEntry[]> => (await state('queue')).queue,
    /** Returns every trust that applies now: that of the session and that of its workspace. */
    async listToolTrust() {
      const { trust, here } = await state('trust', 'here')
      return listActiveTrust({ view: { trust }, here })
    },
    /** Returns the summary of the active compaction; empty when there is none. */
    getSummary: async (): Promise<string> => (await state('summary')).summary ?? '',
    /** Returns whether the session is stored; false if it is in memory only. */
    isPersistent: async (): Promise<boolean> => (await state('meta')).meta.persist !== false,
    /** Returns whether hooks run in the session. */
    hooksEnabled: async (): Promise<boolean> => (await state('meta')).meta.hooksEnabled !== false,
    /** Returns the role of an attached client; null when it is not attached. */
    async subscriberRole(client: string): Promise<Role | null> {
      const asked = orThrow(parseOptions(ClientId, client, 'find a client'))
      return (await state('here')).here?.clients.find((one) => one.client === asked)?.role ?? null
    },
    /** Returns what an editor shows beside the transcript. */
    editorSnapshot: async () =>
      editorSnapshotOf(await state('status', 'pendingApprovals', 'lastTurn', 'activeToolCalls', 'here')),
  }
}

/** An approval, and the subagent that waits for it; absent if the session itself does. */
export type EditorApproval = PendingApproval & {
  /** The subagent. Answer with its id as `child`. */
  readonly child?: Pick<ChildView, 'id' | 'handle' | 'agent' | 'task'> | undefined
}

/** What an editor shows beside the transcript. */
export type EditorSnapshot = {
  /** Whether the session is idle, works or waits. */
  readonly status: Status
  /** The oldest pending approval: of the session itself, else of a subagent. */
  readonly pendingApproval: EditorApproval | null
  /** The calls that wait for an answer, in call order; then those of subagents. */
  readonly pendingApprovals: readonly EditorApproval[]
  /** Why the last turn failed; null if it did not. */
  readonly error: ModelFault | null
  /** The tool that runs now; null when none runs. */
  readonly activeToolName: string | null
  /** Null when the session is not running. */
  readonly credentialsConfigured: boolean | null
  /** Why the store rejects writes; null while writes succeed. */
  readonly storageError: StorageError | null
}

type EditorFields = Pick<StateFields, 'status' | 'pendingApprovals' | 'lastTurn' | 'activeToolCalls' | 'here'>

function editorSnapshotOf(state: EditorFields): EditorSnapshot {
  const below = (state.here?.children ?? []).flatMap(({ id, handle, agent, task, pendingApprovals }) =>
    pendingApprovals.map((approval): EditorApproval => ({ ...approval, child: { id, handle, agent, task } })),
  )
  const pendingApprovals = [...state.pendingApprovals, ...below]
  return {
    status: state.status,
    pendingApproval: pendingApprovals[0] ?? null,
    pendingApprovals,
    error: state.lastTurn?.fault ?? null,
    activeToolName: state.activeToolCalls[0]?.tool ?? null,
    credentialsConfigured: state.here?.credentialsConfigured ?? null,
    storageError: state.here?.storageError ?? null,
  }
}

/** Returns a path relative to the workdir, without `.` and `..`. */
function pathInside(workdir: string, path: string): string {
  const relative = path.startsWith(`${workdir}/`) ? path.slice(workdir.length + 1) : path
  const names: string[] = []
  for (const name of relative.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return names.join('/')
}

async function* readFileChanges(
  handle: Pick<SessionHandle, 'fileChanges'>,
): AsyncGenerator<StoredFileChange, void, undefined> {
  for await (const { changes } of readChangePages(handle)) yield* changes
}

async function* readChangePages(
  handle: Pick<SessionHandle, 'fileChanges'>,
): AsyncGenerator<FileChangePage, void, undefined> {
  for (let before: Seq | null | undefined; before !== null; ) {
    const page: FileChangePage = orThrow(await handle.fileChanges({ before }))
    yield page
    before = page.before
  }
}
