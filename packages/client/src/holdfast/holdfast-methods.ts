import {
  type Cap,
  type CapScope,
  type ClientEvent,
  type CommandResult,
  type CreatedToken,
  type EndedLogins,
  type ExportOptions,
  type FolderLister,
  type FolderServers,
  type FoundMessages,
  type FoundSkill,
  fault,
  HoldfastError,
  type HookLister,
  type ImportChoice,
  type ImportFile,
  type ImportResult,
  type ListedAgent,
  type ListedCap,
  type ListedHook,
  type ListedPermission,
  type ListedToken,
  type ListOptions,
  type Meta,
  type ModelList,
  type NewsOptions,
  type OfferGrant,
  type OfferTrust,
  orThrow,
  type PermissionListOptions,
  type PermissionRule,
  type PermissionRules,
  parseOptions,
  type SearchOptions,
  type SessionHandle,
  type SessionList,
  type SessionNews,
  type Sessions,
  type SlashCommand,
  type Spending,
  type SpendingCaps,
  type SpendingOptions,
  type StartOptions,
  type Stats,
  type StatsOptions,
  type StoredFile,
  type StoreFileOptions,
  type TokenOptions,
  type Tokens,
  type ToolList,
  type ToolLister,
  ToolsOf,
  type TrustedWorkspace,
  type TrustRevoked,
  type WorkspaceOffers,
} from '@holdfast/protocol'
import { readOptions, requireOptions } from '../session/arguments.ts'
import { type AddedMessage, type MessageSeed, toSeeds } from '../session/seed-messages.ts'
import { type ClientEventOptions, createSession, type Session } from '../session/session.ts'
import { byName, findNamed } from './by-name.ts'
import { type ListAllOptions, listAll } from './list-all.ts'
import {
  confirmSaved,
  ensureMeta,
  isSession,
  metaOf,
  type SessionData,
  type SessionOrName,
  saveSession,
} from './save-session.ts'
import { createSessionAdmin, type SessionAdmin } from './session-admin.ts'

/** The tokens that let clients in. Over HTTP these methods need an admin token. */
export interface TokenMethods {
  /**
   * Creates a token with a role, for one session or all. The answer is the only place with its secret: only a hash is
   * stored. Refused: bad_request, session_not_found.
   */
  create(options: TokenOptions): Promise<CreatedToken>
  /** Lists all tokens, without their secrets. */
  list(): Promise<readonly ListedToken[]>
  /** Revokes a token by its id or its name, and returns it. Its streams end within a second. Refused: not_found, bad_id. */
  revoke(name: string): Promise<ListedToken>
  /** Ends all logins of the page, and their streams within a second. Tokens and share links stay. Refused: storage_error. */
  revokeLogins(): Promise<EndedLogins>
}

/** The methods that the runtime of this process and that of a server share. Failed calls throw a `HoldfastError`. */
export interface HoldfastMethods extends SessionAdmin, AsyncDisposable {
  /** The same sessions with results instead of exceptions. */
  readonly handles: Sessions
  /** The tokens that let clients in: creates, lists and revokes them. */
  readonly tokens: TokenMethods
  /**
   * Starts a session. `workdir` is the current folder of the process that runs it, when absent. A server refuses a
   * relative one: bad_workdir.
   */
  startSession(options?: Partial<StartOptions>): Promise<Session>
  /** Returns a session by id, unique prefix of an id, handle or key. */
  getSession(name: string): Promise<Session>
  /** Returns the session with this key; starts it if there is none. */
  getOrCreate(key: string, options?: Partial<StartOptions>): Promise<Session>
  /** Returns the session of this workspace with the latest message; null if there is none. */
  latest(workspace?: string): Promise<Session | null>
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
  /** Starts a turn of a session without following it. */
  sendPrompt(name: string, content: string): Promise<CommandResult<'sendPrompt'>>
  /** Stops the running turn of a session. */
  abort(name: string): Promise<CommandResult<'abort'>>
  /** Starts a session that shares this one's past, up to the end of turn `at` or of the last finished turn. */
  fork(name: string, at?: number): Promise<Session>
  /** Adds a message to a session without prompting the model: one from elsewhere, or one that `messages()` returned. */
  appendMessage(name: string, message: AddedMessage): Promise<CommandResult<'seedMessages'>>
  /** Adds a checkpoint: from here on the model sees these messages and those that follow. */
  appendCheckpoint(
    name: string,
    messages: readonly AddedMessage[],
    tokenCount?: number,
  ): Promise<CommandResult<'appendCheckpoint'>>
  /** Stores a client's own event for other clients, once for each `eventId`. It is never sent to a model. */
  appendClientEvent(
    name: string,
    event: ClientEvent,
    options?: ClientEventOptions,
  ): Promise<CommandResult<'appendClientEvent'>>
  /**
   * Creates a session from a value, or changes it to that value: title, folder, model, messages, summary and client events.
   * Equal messages are not written again; replaced ones are saved as a branch. A new session is created together with its
   * first 1,000 messages. The rest, a summary, client events and each change of an existing session are commands of their
   * own.
   */
  save(data: SessionData): Promise<Session>
  /** Resolves if all answered commands are on disk, as they always are; rejects while the store refuses writes. */
  save(session: SessionOrName): Promise<void>
  /**
   * Returns the metadata of the session of this value; starts the session without its messages if there is none. Returns null
   * and creates nothing if no message is a person's.
   */
  ensureMeta(data: SessionData): Promise<Meta | null>
  /** Returns the metadata of a session; null if it has no message. Writes nothing. */
  ensureMeta(name: string): Promise<Meta | null>
  /** Exports a session in pieces, without loading it. */
  export(name: string, options?: ExportOptions): AsyncIterable<string>
  /** Exports the transcript as Markdown. */
  exportMarkdown(name: string, options?: Pick<ExportOptions, 'redact'>): Promise<string>
  /** Exports the transcript of a session object as Markdown. */
  exportSessionMarkdown(session: Pick<Session, 'id'>, options?: Pick<ExportOptions, 'redact'>): Promise<string>
  /** Imports sessions of other programs, or of another Holdfast, from the bytes of their files. */
  import(files: ImportFile | readonly ImportFile[], options?: ImportChoice): Promise<readonly ImportResult[]>
  /** Counts sessions, messages, usage and disk space. Over HTTP it needs an admin token. */
  stats(options?: StatsOptions): Promise<Stats>
  /**
   * Tells what model calls have cost on a day in UTC, by token and workspace, and lists the caps. Refused: bad_request. Over
   * HTTP these three need an admin token.
   */
  spending(options?: SpendingOptions): Promise<Spending>
  /**
   * Limits what model calls may cost in a day: for everything, for one token or for one workspace. All caps apply together.
   * It replaces the cap of the same scope, and applies to running turns from their next model call on. Refused: bad_request,
   * not_found for an unknown token, bad_workdir for an unknown folder.
   */
  setCap(cap: Cap): Promise<ListedCap>
  /** Removes the cap for everything, for a token or for a workspace, and returns it. Refused: not_found. */
  removeCap(scope?: CapScope): Promise<ListedCap>
  /** Lists the user's permission rules: all of them, or those that apply to sessions of a folder. */
  permissions(options?: PermissionListOptions): Promise<readonly ListedPermission[]>
  /**
   * Adds a rule for all sessions, or for those of a workspace. It applies to running sessions from their next call on.
   * Returns it with its id. Refused: bad_request for a rule that would allow every command. Over HTTP these three need an
   * admin token.
   */
  addPermission(rule: PermissionRule): Promise<ListedPermission>
  /** Removes a rule by its id and returns it. Refused: not_found. */
  removePermission(id: string): Promise<ListedPermission>
  /**
   * Returns what the files of a folder's workspace offer, such as a memory, and what of it is trusted. Nothing of it takes
   * effect before. Refused: bad_workdir for a relative path. Over HTTP these four need an admin token.
   */
  workspaceOffers(workdir: string): Promise<WorkspaceOffers>
  /** Trusts offers exactly as they were shown. Returns all of the workspace. Refused: not_found if one has changed since. */
  trustOffers(grant: OfferGrant): Promise<WorkspaceOffers>
  /** Takes back all trust in the workspace of a folder. Returns whether there was any. */
  revokeTrust(workdir: string): Promise<TrustRevoked>
  /** Lists the workspaces that are trusted, with what was trusted of each. */
  trustedWorkspaces(): Promise<readonly TrustedWorkspace[]>
  /**
   * Lists the hooks of a folder: those that run in its sessions, and those of its workspace that wait for trust or are not
   * supported. Refused: bad_workdir for a relative path. Over HTTP this needs an admin token.
   */
  hooks(workdir: string): Promise<readonly ListedHook[]>
  /** Lists the skills of the user and of the workspace of a folder, with what the model knows of each. Refused: bad_workdir. */
  skills(workdir: string): Promise<readonly FoundSkill[]>
  /** Lists the kinds of subagents that sessions of a folder can start, and those that wait for trust. Refused: bad_workdir. */
  agents(workdir: string): Promise<readonly ListedAgent[]>
  /** Lists the MCP servers that sessions of a folder can use, as they are now. Starts none. Refused: bad_workdir. */
  mcpServers(workdir: string): Promise<FolderServers>
  /** Lists the slash commands that the first prompt of a session in a folder can begin with. Refused: bad_workdir. */
  commands(workdir: string): Promise<readonly SlashCommand[]>
  /**
   * Lists the tools of a session, or of a new session in a folder, with the rules and the sandbox in force. The tools of
   * MCP servers are listed with their servers.
   */
  tools(of: ToolsOf): Promise<ToolList>
  /** Unloads a session: its turn is interrupted, its streams end. The next use loads it again. */
  stopSession(name: string): Promise<void>
  /** Follows all sessions from now on: started, changed, stopped and why. */
  subscribe(options?: NewsOptions): AsyncIterable<SessionNews>
  /** Closes the store and everything that runs. Turns are interrupted and can be continued later. */
  close(): Promise<void>
}

/** The methods that need more than the sessions. */
type OwnMethods = 'handles' | 'import' | 'export' | 'stats' | 'close' | typeof Symbol.asyncDispose

/** Creates the shared methods on the sessions of this process or of a server. */
export function createHoldfastMethods(
  sessions: Sessions,
  {
    now,
    export: exportPieces,
    permissions,
    trust,
    hooks,
    tools,
    folders,
    tokens,
    spending,
  }: {
    readonly now: () => number
    readonly permissions: PermissionRules
    readonly trust: OfferTrust
    readonly hooks: HookLister
    readonly tools: ToolLister
    readonly folders: FolderLister
    readonly tokens: Tokens
    readonly spending: SpendingCaps
  } & Pick<HoldfastMethods, 'export'>,
): Omit<HoldfastMethods, OwnMethods> {
  const getSession = async (name: string) => createSession(await findNamed(sessions, name))
  const exportMarkdown: HoldfastMethods['exportMarkdown'] = async (name, options) => {
    const { redact } = readOptions(options, ['redact'])
    let text = ''
    for await (const piece of exportPieces(name, { format: 'md', redact })) text += piece
    return text
  }
  return {
    ...createSessionAdmin(sessions, getSession, now),
    getSession,
    startSession: async (given = {}) => createSession(orThrow(await sessions.start(given))),
    getOrCreate: async (key, given) => createSession(await findOrStart(sessions, key, given)),
    async latest(workspace) {
      const newest = orThrow(await sessions.latest(workspace))
      return newest && createSession(newest)
    },
    sessions: (options) => listAll(sessions, options),
    list: async (asked) => orThrow(await sessions.list(asked)),
    search: async (text, options) => orThrow(await sessions.search({ ...requireOptions(options), text })),
    storeFile: async (bytes, options) => orThrow(await sessions.storeFile(bytes, options)),
    models: async () => orThrow(await sessions.models()),
    refreshCredentials: async () => orThrow(await sessions.refreshCredentials()),
    sendPrompt: async (name, content) => (await getSession(name)).sendPrompt(content),
    abort: async (name) => (await getSession(name)).abort(),
    fork: async (name, at) => getSession((await (await getSession(name)).fork(at)).session),
    async appendMessage(name, message) {
      const seeds = toSeeds([message]).map(withOpenCalls)
      if (seeds.length > 0) return (await getSession(name)).seedMessages(seeds)
      // Usage was counted where it arose: there is nothing to add.
      const handle = await findNamed(sessions, name)
      return { seq: orThrow(await handle.state(['seq'])).seq }
    },
    appendCheckpoint: async (name, messages, tokenCount) =>
      (await getSession(name)).appendCheckpoint(messages, tokenCount),
    appendClientEvent: async (name, event, options) => (await getSession(name)).appendClientEvent(event, options),
    // An implementation of overloads has the type of none of them.
    save: (async (value: SessionOrName | SessionData) =>
      isSession(value) ? confirmSaved(sessions, value) : saveSession(sessions, value)) as HoldfastMethods['save'],
    ensureMeta: async (value: string | SessionData) =>
      typeof value === 'string' ? metaOf(sessions, value) : ensureMeta(sessions, value),
    exportMarkdown,
    exportSessionMarkdown: async (session, options) => exportMarkdown(requireSession(session), options),
    spending: async (options) => orThrow(await spending.read(options)),
    setCap: async (cap) => orThrow(await spending.set(cap)),
    removeCap: async (scope) => orThrow(await spending.remove(scope)),
    permissions: async (options) => orThrow(await permissions.list(options)),
    addPermission: async (rule) => orThrow(await permissions.add(rule)),
    removePermission: async (id) => orThrow(await permissions.remove(id)),
    workspaceOffers: async (workdir) => orThrow(await trust.offers(workdir)),
    trustOffers: async (grant) => orThrow(await trust.grant(grant)),
    revokeTrust: async (workdir) => orThrow(await trust.revoke(workdir)),
    trustedWorkspaces: async () => orThrow(await trust.list()),
    hooks: async (workdir) => orThrow(await hooks.list(workdir)),
    skills: async (workdir) => orThrow(await folders.skills(workdir)),
    agents: async (workdir) => orThrow(await folders.agents(workdir)),
    mcpServers: async (workdir) => orThrow(await folders.servers(workdir)),
    commands: async (workdir) => orThrow(await folders.commands(workdir)),
    tools: async (of) => orThrow(await tools.list(orThrow(parseOptions(ToolsOf, of, 'list tools')))),
    tokens: {
      create: async (options) => orThrow(await tokens.create(options)),
      list: async () => orThrow(await tokens.list()),
      revoke: async (name) => orThrow(await tokens.revoke(name)),
      revokeLogins: async () => orThrow(await tokens.revokeLogins()),
    },
    stopSession: async (name) => void orThrow(await byName(sessions, name, sessions.stop)),
    subscribe: (options) => sessions.subscribe(options),
  }
}

const twoKeys = fault('bad_request', 'getOrCreate got two keys. Give the key as its first argument only.')

async function findOrStart(sessions: Sessions, key: string, given?: Partial<StartOptions>): Promise<SessionHandle> {
  const options = requireOptions(given)
  if (options.key !== undefined && options.key !== key) throw new HoldfastError(twoKeys)
  const known = orThrow(await sessions.findByKey(key))
  if (known) return known
  const started = await sessions.start({ ...options, key })
  // Another process may have started it meanwhile.
  const isTaken = !started.ok && started.fault.code === 'key_taken'
  return (isTaken ? orThrow(await sessions.findByKey(key)) : null) ?? orThrow(started)
}

/** Returns the id of a session object. Refused: bad_id. */
function requireSession(session: Pick<Session, 'id'>): string {
  if (typeof session === 'object' && session !== null && 'id' in session) return session.id
  throw new HoldfastError(fault('bad_id', 'Give a session, as getSession and startSession return it.'))
}

/** Marks the calls of an added message as open, because their results are added later, one by one. */
const withOpenCalls = (message: MessageSeed): MessageSeed =>
  message.role === 'assistant' && message.toolCalls ? { given: {}, ...message } : message
