import { createSession, type MessageSeed, type Session } from '@holdfast/client'
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
  type Answer,
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
import { type Conversations, type ConversationsOptions, createConversations } from './conversations/conversations.ts'
import { createSessionAdmin, type SessionAdmin } from './session-admin.ts'
import type { StoreLocation } from './store/open/store-location.ts'
import { createStoredSessions, type StoredSessions } from './stored-sessions.ts'
import type { Home } from './system/home.ts'
import { type ExportOptions, exportSession, openExportSource } from './transfer/export/export-session.ts'
import { type ImportedFile, type ImportOptions, importPaths } from './transfer/import/import-paths.ts'

export type { Notification, Notifier } from '@holdfast/core'

/** What a program may ask of a session it starts here: beside what is on record, a function of its own. */
export type LocalStartOptions = Partial<StartOptions> & {
  /** Called when the session asks something or comes to rest, as long as this process lives. */
  readonly notifier?: Notifier | undefined
}

/** The runtime in this process. Method names are the ones people know; refusals throw `HoldfastError`. */
export interface Holdfast extends SessionAdmin, StoredSessions, Admin, AsyncDisposable {
  /** The same sessions as values and results, for whoever stands at a door: server, CLI. */
  readonly sessions: LocalSessions
  startSession(options?: LocalStartOptions): Promise<Session>
  /** By id, a unique prefix of it, or handle. */
  getSession(name: string): Promise<Session>
  /** The session with this key, started if there is none. */
  getOrCreate(key: string, options?: LocalStartOptions): Promise<Session>
  /** The session of this workspace where someone spoke last, to go on with; null when there is none. */
  latest(workspace?: string): Promise<Session | null>
  /** The sessions awake in this process, with their metadata. */
  listSessions(): readonly { readonly session: Session; readonly metadata: Meta }[]
  /** The stored sessions, newest activity first. */
  list(options?: ListOptions): Promise<SessionList>
  /** Messages by their words: of the newest 1,000 that match, the best first. */
  search(text: string, options?: Omit<SearchOptions, 'text'>): Promise<FoundMessages>
  /** Checks a file by its bytes and stores it; `file` of the answer can stand in a prompt as it is. */
  storeFile(bytes: Uint8Array, options?: StoreFileOptions): Promise<StoredFile>
  /** Which models can be called now, and why the rest cannot. */
  models(): Promise<ModelList>
  /** Looks anew for credentials, and says what can be called then: what was refused for want of a key may be asked again. */
  refreshCredentials(): Promise<ModelList>
  sendPrompt(name: string, content: string): Promise<Answer['result']>
  abort(name: string): Promise<Answer['result']>
  /** A new session that shares the past of this one, up to the end of turn `at` or of the last that ended. */
  fork(name: string, at?: number): Promise<Session>
  /** Adds a message from elsewhere to the line of a session, without prompting. */
  appendMessage(name: string, message: MessageSeed): Promise<void>
  /** A checkpoint made by the caller: from here on the model is told these messages, and what follows. */
  appendCheckpoint(name: string, messages: readonly MessageSeed[], tokenCount?: number): Promise<void>
  /** A session written out, piece by piece, without waking it. */
  export(name: string, options?: ExportOptions): AsyncIterable<string>
  /** The transcript as markdown. */
  exportMarkdown(name: string, options?: Pick<ExportOptions, 'redact'>): Promise<string>
  exportSessionMarkdown(session: Pick<Session, 'id'>, options?: Pick<ExportOptions, 'redact'>): Promise<string>
  /** Takes over sessions of other programs, or of another Holdfast, from files and folders, which are only read. */
  import(paths: string | readonly string[], options?: ImportOptions): Promise<readonly ImportedFile[]>
  /** Conversations of a program with its own loop, each a session known by its key. */
  conversations(options?: ConversationsOptions): Conversations
  stopSession(name: string): Promise<void>
  /** What becomes of all sessions of this process from now on: started, changed, stopped and why. */
  subscribe(options?: { readonly signal?: AbortSignal }): AsyncIterable<SessionNews>
  close(): Promise<void>
}

/** The methods of a runtime that is already put together; `close` takes it apart. */
export function createHoldfast(
  registry: SessionRegistry,
  { place, home }: { readonly place: StoreLocation; readonly home: Home },
  close: () => Promise<void>,
): Holdfast {
  const { store } = registry.parts
  const sessions = createLocalSessions(registry)
  const { admin, close: closeAdmin } = createAdmin(place, registry.parts.clock.now)
  const sessionOf = (id: SessionId) => createSession(createLocalSession(registry, id))
  const notified = (session: Session, notifier: Notifier | undefined) => {
    if (notifier) registry.notify(session.id, notifier)
    return session
  }
  const getSession = async (name: string) => createSession(orThrow(await sessions.open(name)))

  const exported = async function* (name: string, options?: ExportOptions) {
    const { blobs, isAlive } = registry.parts
    const id = orThrow(await findSession(store, name))
    yield* exportSession(await openExportSource(store, blobs, id, isAlive), options)
  }

  const exportMarkdown: Holdfast['exportMarkdown'] = async (name, { redact } = {}) => {
    let text = ''
    for await (const piece of exported(name, { format: 'md', redact })) text += piece
    return text
  }

  const closeAll = () => closeAdmin().finally(close)

  return {
    sessions,
    getSession,
    ...createSessionAdmin({ sessions, getSession, now: registry.parts.clock.now }),
    ...createStoredSessions({ registry, getSession, place, home }),
    ...admin,
    export: exported,
    exportMarkdown,
    exportSessionMarkdown: ({ id }, options) => exportMarkdown(id, options),
    import: (paths, options) =>
      importPaths(
        {
          ...registry.parts,
          isAwake: (id) => registry.all().some((runner) => runner.id === id),
          storeFile: (bytes, name) => sessions.storeFile(bytes, name === undefined ? {} : { name }),
        },
        typeof paths === 'string' ? [paths] : paths,
        options,
      ),
    startSession: async ({ notifier, ...given } = {}) =>
      notified(createSession(orThrow(await sessions.start({ workdir: '.', ...given }))), notifier),
    async getOrCreate(key, { notifier, ...given } = {}) {
      const known = orThrow(await findByKey(store, key))
      if (known) return notified(sessionOf(known), notifier)
      const started = await sessions.start({ workdir: '.', ...given, key })
      // Someone else may have started it meanwhile: then theirs is the one.
      const theirs = !started.ok && started.fault.code === 'key_taken' ? orThrow(await findByKey(store, key)) : null
      return notified(theirs ? sessionOf(theirs) : createSession(orThrow(started)), notifier)
    },
    async latest(workspace = '.') {
      const workdir = orThrow(await registry.parts.resolveWorkdir(workspace))
      const [newest] = await store.find({ type: 'latest', workspace: workdir }) // a list begins with what is pinned
      return newest ? sessionOf(newest) : null
    },
    listSessions: () =>
      registry
        .all()
        .map(({ id, folded }) => ({ session: sessionOf(id), metadata: registry.attended(folded().row.entry.meta) })),
    list: async (asked) => orThrow(await sessions.list(asked)),
    search: async (text, options) => orThrow(await sessions.search({ ...options, text })),
    storeFile: async (bytes, options) => orThrow(await sessions.storeFile(bytes, options)),
    models: async () => orThrow(await sessions.models()),
    refreshCredentials: async () => orThrow(await sessions.refreshCredentials()),
    sendPrompt: async (name, content) => (await getSession(name)).sendPrompt(content),
    abort: async (name) => (await getSession(name)).abort(),
    fork: async (name, at) => sessionOf(await (await getSession(name)).fork(at)),
    appendMessage: async (name, message) => (await getSession(name)).seedMessages([ledBy(message)]),
    appendCheckpoint: async (name, messages, tokenCount) =>
      (await getSession(name)).appendCheckpoint(messages, tokenCount),
    conversations: (options) => createConversations(registry, options),
    stopSession: async (name) => registry.unload((await getSession(name)).id),
    subscribe: ({ signal } = {}) => registry.news.follow(signal),
    close: closeAll,
    [Symbol.asyncDispose]: closeAll,
  }
}

/** One by one, the result of a call comes after the message that asked for it: until then the call waits. */
const ledBy = (message: MessageSeed): MessageSeed =>
  message.role === 'assistant' && message.toolCalls ? { given: {}, ...message } : message
