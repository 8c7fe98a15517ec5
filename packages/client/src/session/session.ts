import {
  type Answer,
  type Budgets,
  type CommandInput,
  combineQueueEntriesToText,
  type Decision,
  type Frame,
  type FrameOf,
  limits,
  listActiveTrust,
  type Message,
  type MessageId,
  type Meta,
  type ModelFault,
  orThrow,
  type PageRequest,
  type PendingApproval,
  type Queue,
  QueueEntry,
  type Role,
  type SessionHandle,
  type SessionId,
  type SessionView,
  type Status,
  type StorageError,
  type SubmitOptions,
  type SubscribeOptions,
  type TranscriptPage,
  type Trust,
  type TrustScope,
} from '@holdfast/protocol'
import {
  createSessionCatalogue,
  createSessionClientEvents,
  type SessionCatalogue,
  type SessionClientEvents,
} from './session-catalogue.ts'
import { createSessionHistory, type SessionHistory } from './session-history.ts'
import { createSessionModels, type SessionModels } from './session-models.ts'
import { createSessionUsage, type SessionUsage } from './session-usage.ts'

export type CommandOptions = SubmitOptions
export type EnterExecOptions = CommandOptions & {
  /** Pins the last answer, so that the plan stays in the context. */
  readonly keepPlan?: boolean | undefined
}
export type TrustOptions = CommandOptions & {
  /** Trusts only calls with these arguments: their hash, from the approval. */
  readonly argsHash?: string | undefined
}
export type LineOptions = Pick<PageRequest, 'branch'>
type PromptContent = Extract<CommandInput, { readonly type: 'sendPrompt' }>['content']
type CommandResult = Answer['result']

export type EditorSnapshot = {
  readonly status: Status
  /** The oldest pending approval. */
  readonly pendingApproval: PendingApproval | null
  readonly pendingApprovals: readonly PendingApproval[]
  readonly error: ModelFault | null
  readonly activeToolName: string | null
  /** Null when the session is not running. */
  readonly credentialsConfigured: boolean | null
  /** Why the store rejects writes; null while writes succeed. */
  readonly storageError: StorageError | null
}

/** A session with one method per command. Refusals are thrown as `HoldfastError`. */
export interface Session extends SessionHistory, SessionClientEvents, SessionCatalogue, SessionModels, SessionUsage {
  readonly id: SessionId
  /** Starts a turn. During a turn it steers and returns `{queued: 'steering'}`. */
  sendPrompt(content: PromptContent, options?: CommandOptions): Promise<CommandResult>
  queueSteering(content: PromptContent, options?: CommandOptions): Promise<CommandResult>
  /** Becomes the next turn when this one ends. */
  queueFollowUp(content: PromptContent, options?: CommandOptions): Promise<CommandResult>
  getQueuedMessages(): Promise<readonly QueueEntry[]>
  /** Removes all queued prompts and returns them. */
  recallQueues(options?: CommandOptions): Promise<readonly QueueEntry[]>
  clearQueues(options?: CommandOptions): Promise<CommandResult>
  /** Removes queued steering and returns it; follow-ups stay. */
  dequeueSteering(options?: CommandOptions): Promise<readonly QueueEntry[]>
  editQueueEntry(entry: number, content: PromptContent, options?: CommandOptions): Promise<CommandResult>
  removeQueueEntry(entry: number, options?: CommandOptions): Promise<CommandResult>
  /** `entries` lists all ids of the queue in the new order. */
  reorderQueue(queue: Queue, entries: readonly number[], options?: CommandOptions): Promise<CommandResult>
  /** Answers approval `id`, or the oldest one. `message` tells the model why it was rejected. */
  respondToApproval(decision: Decision, id?: number, message?: string, options?: CommandOptions): Promise<CommandResult>
  abort(options?: CommandOptions): Promise<CommandResult>
  continue(options?: CommandOptions): Promise<CommandResult>
  enterPlan(options?: CommandOptions): Promise<CommandResult>
  enterExec(options?: EnterExecOptions): Promise<CommandResult>
  /** Replaces the budgets at which turns stop. A budget left out has no limit. */
  setBudgets(budgets: Budgets, options?: CommandOptions): Promise<CommandResult>
  setToolTrust(tool: string, scope: TrustScope, options?: TrustOptions): Promise<CommandResult>
  /** Revokes the trust in a tool, or in `all`. */
  revokeToolTrust(tool: string, options?: CommandOptions): Promise<CommandResult>
  listToolTrust(): Promise<readonly Trust[]>
  /** Makes the client `options.as` the driver, if there is none. */
  claimDriver(options?: CommandOptions): Promise<CommandResult>
  /** Makes another attached client the driver. */
  handOver(client: string, options?: CommandOptions): Promise<CommandResult>
  /** Returns the whole line, oldest first, or a saved branch. */
  messages(options?: LineOptions): Promise<readonly Message[]>
  messagesWithIds(options?: LineOptions): Promise<readonly { readonly id: MessageId; readonly message: Message }[]>
  status(): Promise<Status>
  metadata(): Promise<Meta>
  activeToolCalls(): Promise<SessionView['activeToolCalls']>
  /** Whether it is stored on disk. */
  persist(): Promise<boolean>
  /** Returns the role of an attached client; null when it is not attached. */
  subscriberRole(client: string): Promise<Role | null>
  /** Joins queued prompts into one text. */
  combineQueueEntriesToText(entries: readonly QueueEntry[]): string
  editorSnapshot(): Promise<EditorSnapshot>
  subscribe(options?: SubscribeOptions): AsyncIterable<Frame>
}

export function createSession(handle: SessionHandle): Session {
  const submit = async (command: CommandInput, options?: CommandOptions): Promise<CommandResult> =>
    orThrow(await handle.submit(command, options)).result
  const snapshot = async (): Promise<FrameOf<'snapshot'>> => orThrow(await handle.snapshot())
  const messages = async ({ branch }: LineOptions = {}) => {
    const pages: (readonly Message[])[] = []
    const request: PageRequest = { branch, limit: limits.pageMessagesMax }
    let next: PageRequest | null = request
    while (next) {
      const page: TranscriptPage = orThrow(await handle.page(next))
      pages.unshift(page.messages)
      next = page.before === null ? null : { ...request, before: page.before }
    }
    return pages.flat()
  }

  return {
    ...createSessionHistory(handle),
    ...createSessionClientEvents(handle),
    ...createSessionCatalogue(handle),
    ...createSessionModels(handle),
    ...createSessionUsage(handle),
    id: handle.id,
    sendPrompt: (content, options) => submit({ type: 'sendPrompt', content }, options),
    queueSteering: (content, options) => submit({ type: 'queueSteering', content }, options),
    queueFollowUp: (content, options) => submit({ type: 'queueFollowUp', content }, options),
    getQueuedMessages: async () => (await snapshot()).view.queue,
    recallQueues: async (options) => entriesOf(await submit({ type: 'recallQueues' }, options)),
    clearQueues: (options) => submit({ type: 'clearQueues' }, options),
    dequeueSteering: async (options) => entriesOf(await submit({ type: 'dequeueSteering' }, options)),
    editQueueEntry: (entry, content, options) => submit({ type: 'editQueueEntry', entry, content }, options),
    removeQueueEntry: (entry, options) => submit({ type: 'removeQueueEntry', entry }, options),
    reorderQueue: (queue, entries, options) => submit({ type: 'reorderQueue', queue, entries: [...entries] }, options),
    respondToApproval: (decision, approval, message, options) =>
      submit(
        {
          type: 'respondToApproval',
          decision,
          ...(approval !== undefined && { approval }),
          ...(message !== undefined && { message }),
        },
        options,
      ),
    abort: (options) => submit({ type: 'abort' }, options),
    continue: (options) => submit({ type: 'continue' }, options),
    enterPlan: (options) => submit({ type: 'enterPlan' }, options),
    enterExec: ({ keepPlan, ...options } = {}) =>
      submit({ type: 'enterExec', ...(keepPlan !== undefined && { keepPlan }) }, options),
    setBudgets: (budgets, options) => submit({ type: 'setBudgets', budgets }, options),
    setToolTrust: (tool, scope, { argsHash, ...options } = {}) =>
      submit({ type: 'setToolTrust', tool, scope, ...(argsHash !== undefined && { argsHash }) }, options),
    revokeToolTrust: (tool, options) => submit({ type: 'revokeToolTrust', tool }, options),
    listToolTrust: async () => listActiveTrust(await snapshot()),
    claimDriver: (options) => submit({ type: 'claimDriver' }, options),
    handOver: (client, options) => submit({ type: 'handOver', client }, options),
    messages,
    messagesWithIds: async (options) => (await messages(options)).map((message) => ({ id: message.id, message })),
    status: async () => (await snapshot()).view.status,
    metadata: async () => (await snapshot()).meta,
    activeToolCalls: async () => (await snapshot()).view.activeToolCalls,
    persist: async () => (await snapshot()).meta.persist !== false,
    subscriberRole: async (client) =>
      (await snapshot()).here?.clients.find((one) => one.client === client)?.role ?? null,
    combineQueueEntriesToText,
    editorSnapshot: async () => editorSnapshotOf(await snapshot()),
    subscribe: (options) => handle.subscribe(options),
  }
}

/** Returns the entries a command removed from the queues. */
export const entriesOf = (result: CommandResult): readonly QueueEntry[] =>
  QueueEntry.array().parse(result['entries'] ?? [])

function editorSnapshotOf({ view, here }: FrameOf<'snapshot'>): EditorSnapshot {
  const { status, pendingApprovals, activeToolCalls, lastTurn } = view
  return {
    status,
    pendingApproval: pendingApprovals[0] ?? null,
    pendingApprovals,
    error: lastTurn?.fault ?? null,
    activeToolName: activeToolCalls[0]?.tool ?? null,
    credentialsConfigured: here?.credentialsConfigured ?? null,
    storageError: here?.storageError ?? null,
  }
}
