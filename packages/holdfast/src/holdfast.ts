import { createSession, type ListAllOptions, listAll, type MessageSeed, type Session } from '@holdfast/client'
import {
  createLocalSession,
  createLocalSessions,
  findByKey,
  findSession,
  type LocalSessions,
  type Notifier,
  type SessionRegistry,
} from '@holdfast/core'
import {
  type CommandResult,
  type FoundMessages,
  type ListOptions,
  type Meta,
  type ModelList,
  orThrow,
  type SearchOptions,
  type SessionId,
  type SessionList,
  type SessionNews,
  type StartOptions,
  type StoredFile,
  type StoreFileOptions,
} from '@holdfast/protocol'
import { type Admin, createAdmin } from './admin/jobs/admin.ts'
import { createConversationPool } from './conversations/conversation-pool.ts'
import { type Conversations, type ConversationsOptions, createConversations } from './conversations/conversations.ts'
import { createSessionAdmin, type SessionAdmin } from './session-admin.ts'
import type { StoreLocation } from './store/open/store-location.ts'
import { createStoredSessions, type StoredSessions } from './stored-sessions.ts'
import type { Home } from './system/home.ts'
import { type ExportOptions, exportSession, openExportSource } from './transfer/export/export-session.ts'
import { createImportHost } from './transfer/import/host/import-host.ts'
import type { ImportedFile } from './transfer/import/import-paths.ts'
import {
  type ImportThreadOptions,
  type OpenWriterPort,
  runImportThread,
} from './transfer/import/thread/import-thread.ts'

export type { Notification, Notifier } from '@holdfast/core'

/** Options for a session started in this process: those that are recorded, and a callback. */
export type LocalStartOptions = Partial<StartOptions> & {
  /** Called when the session asks for an approval or becomes idle, while this process runs. */
  readonly notifier?: Notifier | undefined
}

/** The runtime in this process. Failed calls throw a `HoldfastError`. */
export interface Holdfast extends SessionAdmin, StoredSessions, Admin, AsyncDisposable {
  /** The same sessions with results instead of exceptions, for the server and the command line. */
  readonly handles: LocalSessions
  startSession(options?: LocalStartOptions): Promise<Session>
  /** Returns a session by id, unique prefix of an id, or handle. */
  getSession(name: string): Promise<Session>
  /** Returns the session with this key; starts it if there is none. */
  getOrCreate(key: string, options?: LocalStartOptions): Promise<Session>
  /** Returns the session of this workspace with the latest message; null if there is none. */
  latest(workspace?: string): Promise<Session | null>
  /** Returns the sessions in the memory of this process, with their metadata. */
  listSessions(): readonly { readonly session: Session; readonly metadata: Meta }[]
  /** Lists all stored sessions, page by page as a `for await` loop reads them. */
  sessions(options?: ListAllOptions): AsyncIterable<Meta>
  /** Returns one page of the stored sessions: pinned ones first, then by latest message. */
  list(options?: ListOptions): Promise<SessionList>
  /** Searches messages; ranks the newest 1,000 matches, best first. */
  search(text: string, options?: Omit<SearchOptions, 'text'>): Promise<FoundMessages>
  /** Validates a file by its bytes and stores it. `file` of the answer can be used in a prompt. */
  storeFile(bytes: Uint8Array, options?: StoreFileOptions): Promise<StoredFile>
  /** Lists the usable models, and the others with the reason. */
  models(): Promise<ModelList>
  /** Reads credentials again and lists the models. Prompts that failed for lack of a key can then be sent again. */
  refreshCredentials(): Promise<ModelList>
  sendPrompt(name: string, content: string): Promise<CommandResult<'sendPrompt'>>
  abort(name: string): Promise<CommandResult<'abort'>>
  /** Starts a session that shares this one's past, up to the end of turn `at` or of the last finished turn. */
  fork(name: string, at?: number): Promise<Session>
  /** Adds a message to a session without prompting the model. */
  appendMessage(name: string, message: MessageSeed): Promise<CommandResult<'seedMessages'>>
  /** Adds a checkpoint: from here on the model sees these messages and those that follow. */
  appendCheckpoint(
    name: string,
    messages: readonly MessageSeed[],
    tokenCount?: number,
  ): Promise<CommandResult<'appendCheckpoint'>>
  /** Exports a session in pieces, without loading it. */
  export(name: string, options?: ExportOptions): AsyncIterable<string>
  /** Exports the transcript as markdown. */
  exportMarkdown(name: string, options?: Pick<ExportOptions, 'redact'>): Promise<string>
  exportSessionMarkdown(session: Pick<Session, 'id'>, options?: Pick<ExportOptions, 'redact'>): Promise<string>
  /** Imports sessions of other programs, or of another Holdfast, from files and folders, which are only read. */
  import(paths: string | readonly string[], options?: ImportThreadOptions): Promise<readonly ImportedFile[]>
  /** Returns conversations for a program with its own loop; each is a session with a key. */
  conversations(options?: ConversationsOptions): Conversations
  stopSession(name: string): Promise<void>
  /** Follows all sessions of this process from now on: started, changed, stopped and why. */
  subscribe(options?: { readonly signal?: AbortSignal }): AsyncIterable<SessionNews>
  close(): Promise<void>
}

type HoldfastParts = {
  readonly location: StoreLocation
  readonly home: Home
  /** Lets a thread write to the store; null if it cannot. */
  readonly openWriterPort: OpenWriterPort | null
}

/** Creates the methods of an opened runtime; `close` closes its parts. */
export function createHoldfast(
  registry: SessionRegistry,
  { location, home, openWriterPort }: HoldfastParts,
  close: () => Promise<void>,
): Holdfast {
  const { stores } = registry
  const sessions = createLocalSessions(registry)
  const { admin, close: closeAdmin } = createAdmin(location, registry.deps.clock.now)
  const sessionOf = (id: SessionId) => createSession(createLocalSession(registry, id))
  const withNotifier = (session: Session, notifier: Notifier | undefined) => {
    if (notifier) registry.notify(session.id, notifier)
    return session
  }
  const getSession = async (name: string) => createSession(orThrow(await sessions.open(name)))

  const imports = createImports(registry, sessions, openWriterPort)
  const conversationPool = createConversationPool(registry)

  const closeAll = () => Promise.all([imports.close(), closeAdmin()]).then(close, close)

  return {
    handles: sessions,
    getSession,
    ...createSessionAdmin(sessions, getSession, registry.deps.clock.now),
    ...createStoredSessions({ registry, getSession, location, home }),
    ...admin,
    ...createTransfer(registry, imports),
    startSession: async ({ notifier, ...given } = {}) =>
      withNotifier(createSession(orThrow(await sessions.start({ workdir: '.', ...given }))), notifier),
    async getOrCreate(key, { notifier, ...given } = {}) {
      const known = orThrow(await findByKey(stores, key))
      if (known) return withNotifier(sessionOf(known), notifier)
      const started = await sessions.start({ workdir: '.', ...given, key })
      // Another process may have started it meanwhile.
      const existing = !started.ok && started.fault.code === 'key_taken' ? orThrow(await findByKey(stores, key)) : null
      return withNotifier(existing ? sessionOf(existing) : createSession(orThrow(started)), notifier)
    },
    async latest(workspace = '.') {
      const workdir = orThrow(await registry.deps.resolveWorkdir(workspace))
      const [newest] = await stores.find({ type: 'latest', workspace: workdir }) // not the first of a list, which starts with pinned sessions
      return newest ? sessionOf(newest) : null
    },
    listSessions: () =>
      registry.all().map(({ id, folded }) => ({
        session: sessionOf(id),
        metadata: registry.withAttachments(folded().row.entry.meta),
      })),
    sessions: (options) => listAll(sessions, options),
    list: async (asked) => orThrow(await sessions.list(asked)),
    search: async (text, options) => orThrow(await sessions.search({ ...options, text })),
    storeFile: async (bytes, options) => orThrow(await sessions.storeFile(bytes, options)),
    models: async () => orThrow(await sessions.models()),
    refreshCredentials: async () => orThrow(await sessions.refreshCredentials()),
    sendPrompt: async (name, content) => (await getSession(name)).sendPrompt(content),
    abort: async (name) => (await getSession(name)).abort(),
    fork: async (name, at) => sessionOf((await (await getSession(name)).fork(at)).session),
    appendMessage: async (name, message) => (await getSession(name)).seedMessages([withOpenCalls(message)]),
    appendCheckpoint: async (name, messages, tokenCount) =>
      (await getSession(name)).appendCheckpoint(messages, tokenCount),
    conversations: (options) => createConversations(conversationPool, options),
    stopSession: async (name) => registry.unload((await getSession(name)).id),
    subscribe: ({ signal } = {}) => registry.news.follow(signal),
    close: closeAll,
    [Symbol.asyncDispose]: closeAll,
  }
}

type TransferMethods = Pick<Holdfast, 'export' | 'exportMarkdown' | 'exportSessionMarkdown' | 'import'>

function createTransfer(registry: SessionRegistry, imports: ReturnType<typeof createImports>): TransferMethods {
  const { stores } = registry
  const exportPieces = async function* (name: string, options?: ExportOptions) {
    const { blobs, isAlive } = registry.deps
    const id = orThrow(await findSession(stores, name))
    yield* exportSession(await openExportSource(stores.storeOf(id), blobs, id, isAlive), options)
  }
  const exportMarkdown: Holdfast['exportMarkdown'] = async (name, { redact } = {}) => {
    let text = ''
    for await (const piece of exportPieces(name, { format: 'md', redact })) text += piece
    return text
  }
  return {
    export: exportPieces,
    exportMarkdown,
    exportSessionMarkdown: ({ id }, options) => exportMarkdown(id, options),
    import: (paths, options) => imports.run(typeof paths === 'string' ? [paths] : paths, options),
  }
}

/** Runs the imports of this process, each on a thread; `close` stops them. */
function createImports(registry: SessionRegistry, sessions: LocalSessions, openWriterPort: OpenWriterPort | null) {
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    run(paths: readonly string[], { signal, ...options }: ImportThreadOptions = {}) {
      const context = {
        host: createImportHost(registry, sessions),
        defaultModel: registry.deps.models.defaultModel(),
        openWriterPort,
      }
      const stop = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      const work = runImportThread(context, paths, { ...options, signal: stop })
      const ended: Promise<unknown> = work.then(
        () => running.delete(ended),
        () => running.delete(ended),
      )
      running.add(ended)
      return work
    },
    async close(): Promise<void> {
      closing.abort()
      await Promise.all(running)
    },
  }
}

/** Marks the calls of an added message as open, because their results are added later, one by one. */
const withOpenCalls = (message: MessageSeed): MessageSeed =>
  message.role === 'assistant' && message.toolCalls ? { given: {}, ...message } : message
