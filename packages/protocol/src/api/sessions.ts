import { z } from 'zod'
import type { SessionNews } from '../frame/news.ts'
import { explainIssue } from '../text/explain.ts'
import { type StoredFile, StoreFileOptions } from '../value/content.ts'
import { fault } from '../value/fault.ts'
import { FolderPath, GivenTime, Instant, Key, MessageId, SessionId } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import type { ModelList } from '../value/model.ts'
import { ok, type Result, refuse } from '../value/result.ts'
import { SeedMessages } from '../value/seed.ts'
import {
  ApprovalRule,
  Budgets,
  Mode,
  ModelName,
  Permission,
  ProviderOptions,
  ThinkingLevel,
} from '../value/settings.ts'
import { Meta } from '../view/meta.ts'
import { parseOptions } from './parse-options.ts'
import type { ClearOptions, DeleteOptions, EmptyTrashOptions, PruneOptions, Removal } from './removal.ts'
import type { SessionHandle } from './session-handle.ts'

export const StartOptions = z.strictObject({
  /**
   * The folder that the session works in. It must exist. When absent, the current folder of the process that runs the
   * session. A server accepts only an absolute path.
   */
  workdir: FolderPath.min(1).optional(),
  /** The model, as `provider/model`; the default model when absent. */
  model: ModelName.optional(),
  /** How much the model thinks; `off` when absent. */
  thinkingLevel: ThinkingLevel.optional(),
  /** `plan` denies tools that change something; `exec` when absent. */
  mode: Mode.optional(),
  /** The title; the first line of the first prompt when absent. */
  title: z.string().max(200).optional(),
  /** The program's own name for the session. It is unique: `getOrCreate` finds the session by it. */
  key: Key.optional(),
  /** The only tools the model is offered; all when absent. */
  tools: z.array(z.string()).optional(),
  /** Appended to the system prompt. */
  instructions: z.string().max(100_000).optional(),
  /** Limits at which a turn stops. */
  budgets: z.strictObject(Budgets.shape).optional(),
  /** Which calls need approval when no permission applies; `destructive` when absent. */
  approvals: ApprovalRule.optional(),
  /** Rules that allow, ask for or deny certain calls. */
  permissions: z.array(Permission).max(500).optional(),
  /** After this time an unanswered approval is denied; never when absent. */
  approvalTimeoutMs: z.int().min(1).max(limits.approvalTimeoutMsMax).optional(),
  /** Offers the model only read-only tools. */
  readOnly: z.boolean().optional(),
  /** False: in memory only, never on disk. */
  persist: z.boolean().optional(),
  /** Options of the provider's own API. They are stored in the log, so they must hold no secrets. */
  providerOptions: ProviderOptions.optional(),
  /** False: no hooks run in this session, whoever configured them. */
  hooksEnabled: z.boolean().optional(),
  /** False: no SessionStart hooks run, other hooks do; as `hooksEnabled` when absent. */
  sessionStartHook: z.boolean().optional(),
  /** Runs in the background; lists may leave it out. */
  background: z.boolean().optional(),
  /** The session this one was started for. */
  parent: SessionId.optional(),
  /** Earlier messages the session starts with. */
  messages: SeedMessages.optional(),
})
/** How a session starts: its folder, model, title and key, and messages from elsewhere. */
export type StartOptions = z.input<typeof StartOptions>

/** Parses how a session starts. Refused: bad_request, bad_id for its key. */
export function parseStartOptions(given: unknown): Result<z.output<typeof StartOptions>> {
  const key = typeof given === 'object' && given !== null && 'key' in given ? given.key : undefined
  const isNamed = key === undefined ? ok(null) : parseKey(key)
  return isNamed.ok ? parseOptions(StartOptions, given, 'start a session') : isNamed
}

/** Parses the name that an embedding program gives a session. Refused: bad_id. */
export function parseKey(given: unknown): Result<Key> {
  const key = Key.safeParse(given)
  if (key.success) return ok(key.data)
  return refuse(fault('bad_id', 'A key is 1 to 200 characters without control characters.'))
}

/** Parses the path of a folder. Refused: bad_workdir. */
export function parseFolder(given: unknown): Result<string> {
  const folder = FolderPath.safeParse(given)
  if (folder.success) return ok(folder.data)
  return refuse(fault('bad_workdir', `The folder cannot be used: ${explainIssue(folder.error)}.`))
}

/** Parses a file and its options. Refused: bad_request. */
export function parseUpload(bytes: unknown, given: unknown): Result<z.output<typeof StoreFileOptions>> {
  if (bytes instanceof Uint8Array) return parseOptions(StoreFileOptions, given, 'store the file')
  return refuse(fault('bad_request', 'Cannot store the file: its bytes must be a Uint8Array.'))
}

/** Which sessions to list; all conditions must hold. */
export const ListOptions = z.strictObject({
  /** Only sessions of this folder. */
  workspace: FolderPath.optional(),
  /** Words that must occur in the title, preview or recent text. */
  search: z.string().max(1000).optional(),
  /** Only sessions that use this model. */
  model: ModelName.optional(),
  /** Has a message at this time or later. */
  activeFrom: GivenTime.optional(),
  /** Has no message at this time or later. */
  activeBefore: GivenTime.optional(),
  /** Only pinned sessions, or only the others. */
  pinned: z.boolean().optional(),
  /** Only children of this session; forks are not children. */
  startedFor: SessionId.optional(),
  /** Also lists subagents, which are otherwise listed only under the session that started them. */
  subagents: z.boolean().optional(),
  /** Only running sessions. */
  running: z.literal(true).optional(),
  /** Only sessions that wait for an approval. With `subagents`, the subagents among them are listed too. */
  waiting: z.literal(true).optional(),
  /** Lists the trash instead. */
  trashed: z.literal(true).optional(),
  /** The largest number of sessions to return. */
  limit: z.int().min(1).max(1000).optional(),
  /** The `next` of the page before; the first page when absent. */
  cursor: z.string().max(500).optional(),
})
export type ListOptions = z.input<typeof ListOptions>

/** A page of sessions, pinned ones first, then the latest. `next` is the cursor of the next page, null at the end. */
export const SessionList = z.object({ sessions: z.array(Meta), next: z.string().nullable() })
export type SessionList = z.infer<typeof SessionList>

/** `signal` ends the subscription. */
export type NewsOptions = { readonly signal?: AbortSignal | undefined }
export const NewsOptions = z.strictObject({ signal: z.instanceof(AbortSignal).optional() })

/** All sessions of one store, in this process or behind a server. */
export interface Sessions {
  /** Starts a session. Refused: options that cannot be used, such as bad_workdir, unknown_model, key_taken. */
  start(options: StartOptions): Promise<Result<SessionHandle>>
  /** `name` is an id, a unique prefix of one, or a handle. */
  open(name: string): Promise<Result<SessionHandle>>
  /** Finds the session with an embedding program's key; null if there is none. Refused: bad_id, session_trashed. */
  findByKey(key: string): Promise<Result<SessionHandle | null>>
  /** Finds the session of this workspace with the latest message; null if there is none. */
  latest(workspace?: string): Promise<Result<SessionHandle | null>>
  /** Unloads a session: its turn is interrupted, its streams end. The next use loads it again. */
  stop(name: string): Promise<Result<null>>
  /** Returns a page of sessions, pinned ones first, then the latest. */
  list(options?: ListOptions): Promise<Result<SessionList>>
  /** Finds messages by text: the newest 1,000 matches, best first. */
  search(options: SearchOptions): Promise<Result<FoundMessages>>
  /** Moves a session to the trash. A running or attached session stays, unless forced. */
  delete(name: string, options?: DeleteOptions): Promise<Result<Removal>>
  /** Deletes a session permanently, in the trash or not. A running or attached session stays, unless forced. */
  purge(name: string, options?: DeleteOptions): Promise<Result<Removal>>
  /** Moves all sessions to the trash, except running, attached and pinned ones, unless forced. */
  clearAll(options?: ClearOptions): Promise<Result<Removal>>
  /** Does the same for inactive sessions only. */
  prune(options: PruneOptions): Promise<Result<Removal>>
  /** Takes a session out of the trash. */
  restore(name: string): Promise<Result<Meta>>
  /** Deletes the sessions in the trash permanently. */
  emptyTrash(options?: EmptyTrashOptions): Promise<Result<Removal>>
  /**
   * Detects a file's type from its bytes and stores it. Refused: wrong_media_type, too_large, missing_package,
   * bad_request, storage_error.
   */
  storeFile(bytes: Uint8Array, options?: StoreFileOptions): Promise<Result<StoredFile>>
  /** The models that can be called, and why the others cannot. */
  models(): Promise<Result<ModelList>>
  /** Looks for credentials again and returns the new list. Clients of loaded sessions are notified. Refused: storage_error. */
  refreshCredentials(): Promise<Result<ModelList>>
  /** Follows all sessions from now on: started, changed, stopped and why. */
  subscribe(options?: NewsOptions): AsyncIterable<SessionNews>
}

/** The author of a found message; the model's thinking counts as `assistant`. */
export const SearchRole = z.enum(['user', 'assistant', 'tool', 'system'])
export type SearchRole = z.infer<typeof SearchRole>

/** What to search for; all conditions must hold. */
export const SearchOptions = z.strictObject({
  /** Words that must all occur, ignoring case: `word`, `begin*`, `"a phrase"`. */
  text: z.string().min(1).max(1000),
  /** Only messages of sessions of this folder. */
  workspace: FolderPath.optional(),
  /** Only messages of this session. */
  session: SessionId.optional(),
  /** Only messages of this author. */
  role: SearchRole.optional(),
  /** Only calls of this tool and their results. */
  tool: z.string().min(1).max(200).optional(),
  /** Said at this time or later. */
  since: GivenTime.optional(),
  /** Said before this time. */
  until: GivenTime.optional(),
  /** The largest number of messages to return. */
  limit: z.int().min(1).max(1000).optional(),
  /** The `next` of the page before; the first page when absent. */
  cursor: z.string().max(500).optional(),
})
export type SearchOptions = z.input<typeof SearchOptions>

/** A page of found messages. */
export const FoundMessages = z.object({
  /** The messages, best match first. */
  hits: z.array(
    z.object({
      sessionId: SessionId,
      title: z.string(),
      messageId: MessageId,
      kind: SearchRole,
      at: Instant,
      snippet: z.string(),
    }),
  ),
  /** The cursor of the next page; null at the end. */
  next: z.string().nullable(),
  /** The index is behind, as after a large import, and some messages were not searched. Search again later. */
  isIndexing: z.literal(true).optional(),
})
export type FoundMessages = z.infer<typeof FoundMessages>
