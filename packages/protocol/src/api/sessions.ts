import { z } from 'zod'
import type { SessionNews } from '../frame/news.ts'
import type { StoredFile, StoreFileOptions } from '../value/content.ts'
import { Instant, Key, MessageId, SessionId } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import type { ModelList } from '../value/model.ts'
import type { Result } from '../value/result.ts'
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
import type { ClearOptions, DeleteOptions, EmptyTrashOptions, PruneOptions, Removal } from './removal.ts'
import type { SessionHandle } from './session-handle.ts'

export const StartOptions = z.strictObject({
  workdir: z.string().min(1),
  model: ModelName.optional(),
  thinkingLevel: ThinkingLevel.optional(),
  mode: Mode.optional(),
  title: z.string().max(200).optional(),
  key: Key.optional(),
  /** The only tools the model is offered; all when absent. */
  tools: z.array(z.string()).optional(),
  /** Added to the system text. */
  instructions: z.string().max(100_000).optional(),
  budgets: z.strictObject(Budgets.shape).optional(),
  approvals: ApprovalRule.optional(),
  permissions: z.array(Permission).max(500).optional(),
  approvalTimeoutMs: z.int().min(1).max(limits.approvalTimeoutMsMax).optional(),
  /** Offers the model only tools that change nothing. */
  readOnly: z.boolean().optional(),
  /** False: in memory only, never on disk. */
  persist: z.boolean().optional(),
  /** For the model's provider, as its own documentation names them. Not for secrets: they are on record. */
  providerOptions: ProviderOptions.optional(),
  /** Nobody sits before it: lists may leave it out. */
  background: z.boolean().optional(),
  /** The session this one was started for. */
  parent: SessionId.optional(),
  /** What was said before, elsewhere: the session begins with it. */
  messages: SeedMessages.optional(),
})
/** As a program writes them; the schema above is what brands them, inside. */
export type StartOptions = z.input<typeof StartOptions>

export const ListOptions = z.strictObject({
  workspace: z.string().optional(),
  /** Words that must occur in the title, preview or recent text. */
  search: z.string().max(1000).optional(),
  model: ModelName.optional(),
  /** Someone spoke at this moment or later. */
  activeFrom: Instant.optional(),
  /** Nobody has spoken at this moment or later. */
  activeBefore: Instant.optional(),
  pinned: z.boolean().optional(),
  /** Only sessions that were started for this one; its forks were not. */
  startedFor: SessionId.optional(),
  /** Only sessions at work. */
  running: z.literal(true).optional(),
  /** What is in the trash instead of what is not. */
  trashed: z.literal(true).optional(),
  limit: z.int().min(1).max(1000).optional(),
  cursor: z.string().max(500).optional(),
})
export type ListOptions = z.input<typeof ListOptions>

export const SessionList = z.object({ sessions: z.array(Meta), next: z.string().nullable() })
export type SessionList = z.infer<typeof SessionList>

export type NewsOptions = { readonly signal?: AbortSignal | undefined }

/** All sessions of a place, in this process or across the network: start one, open one, list them, follow them all. */
export interface Sessions {
  start(options: StartOptions): Promise<Result<SessionHandle>>
  /** `name` is an id, a unique prefix of one, or a handle. */
  open(name: string): Promise<Result<SessionHandle>>
  list(options?: ListOptions): Promise<Result<SessionList>>
  /** Messages by their words, the newest 1,000 that match, best first. */
  search(options: SearchOptions): Promise<Result<FoundMessages>>
  /** Puts a session into the trash. One that runs or is attended stays, unless forced. */
  delete(name: string, options?: DeleteOptions): Promise<Result<Removal>>
  /** Everything into the trash but what runs, is attended or pinned. */
  clearAll(options?: ClearOptions): Promise<Result<Removal>>
  /** The same, of sessions in which nobody spoke for long. */
  prune(options: PruneOptions): Promise<Result<Removal>>
  /** Takes a session out of the trash. */
  restore(name: string): Promise<Result<Meta>>
  /** Removes what is in the trash, for good. */
  emptyTrash(options?: EmptyTrashOptions): Promise<Result<Removal>>
  /** Checks a file by its bytes and stores it. Refused: wrong_media_type, too_large, bad_request, storage_error. */
  storeFile(bytes: Uint8Array, options?: StoreFileOptions): Promise<Result<StoredFile>>
  /** Which models can be called, and why the rest cannot. */
  models(): Promise<Result<ModelList>>
  /** Looks anew for credentials, and says what can be called then. Every session that is awake tells its clients. Refused: storage_error. */
  refreshCredentials(): Promise<Result<ModelList>>
  /** What becomes of them from now on: started, changed, stopped and why. */
  subscribe(options?: NewsOptions): AsyncIterable<SessionNews>
}

/** Who a found message is from: a person, the model (its thinking too), a tool, or the session itself. */
export const SearchRole = z.enum(['user', 'assistant', 'tool', 'system'])
export type SearchRole = z.infer<typeof SearchRole>

export const SearchOptions = z.strictObject({
  /** Words that must all occur, in any case: `word`, `begin*`, `"a phrase"`. */
  text: z.string().min(1).max(1000),
  workspace: z.string().optional(),
  session: SessionId.optional(),
  role: SearchRole.optional(),
  tool: z.string().min(1).max(200).optional(),
  since: Instant.optional(),
  until: Instant.optional(),
  limit: z.int().min(1).max(1000).optional(),
  cursor: z.string().max(500).optional(),
})
export type SearchOptions = z.input<typeof SearchOptions>

export const FoundMessages = z.object({
  hits: z.array(
    z.object({
      sessionId: SessionId,
      title: z.string(),
      /** The message to jump to. */
      messageId: MessageId,
      kind: SearchRole,
      at: Instant,
      snippet: z.string(),
    }),
  ),
  next: z.string().nullable(),
})
export type FoundMessages = z.infer<typeof FoundMessages>
