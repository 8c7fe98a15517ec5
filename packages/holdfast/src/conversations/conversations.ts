import type { SessionRegistry } from '@holdfast/core'
import { fault, HoldfastError, type Result, refuse } from '@holdfast/protocol'
import { type Conversation, createConversation } from './conversation.ts'
import { type ConversationSession, createConversationSession } from './conversation-session.ts'
import type { ConversationMessage } from './message.ts'
import { type Operation, parseAdd, parseSet, parseSummary, parseTruncate } from './operation.ts'

/** The number of conversations that stay loaded. */
const loadedMax = 256

/**
 * Conversations of a program with its own agent loop, each a session with a key. Changes return at once and never throw:
 * a failure is reported to `onProblem`, and the next `save` of that key, or `close`, rejects.
 */
export interface Conversations extends AsyncDisposable {
  addMessage(key: string, role: ConversationMessage['role'], content: string): void
  addFullMessage(key: string, message: ConversationMessage): void
  /** Returns the messages as they were given; none for an unknown key. */
  getHistory(key: string): Promise<readonly ConversationMessage[]>
  /** Replaces the messages. The summary stays; the old messages are saved as a branch. */
  setHistory(key: string, messages: readonly ConversationMessage[]): void
  /** Keeps the last `keepLast` messages. A model's context starts at the next closed round. */
  truncateHistory(key: string, keepLast: number): void
  getSummary(key: string): Promise<string>
  setSummary(key: string, summary: string): void
  /** Resolves when all earlier changes of this key are durable. */
  save(key: string): Promise<void>
  /** Saves every key. */
  close(): Promise<void>
}

export type ConversationsOptions = {
  /** The workspace of the sessions; the working directory by default. */
  readonly workdir?: string | undefined
}

type CachedConversation = { readonly conversation: Conversation; readonly session: ConversationSession }

export function createConversations(
  registry: SessionRegistry,
  { workdir = '.' }: ConversationsOptions = {},
): Conversations {
  const { onProblem } = registry.deps
  const loaded = new Map<string, CachedConversation>()
  let isClosed = false

  /** Returns a conversation and marks it as most recently used. */
  function getConversation(key: string): Conversation {
    const session = loaded.get(key)?.session ?? createConversationSession(registry, key, workdir)
    const conversation = loaded.get(key)?.conversation ?? createConversation(key, session, onProblem)
    loaded.delete(key)
    loaded.set(key, { session, conversation })
    return conversation
  }

  /** Unloads the least recently used conversations that are idle. */
  async function unloadOldest(): Promise<void> {
    for (const [key, { conversation, session }] of loaded) {
      if (loaded.size <= loadedMax) return
      if (!conversation.isIdle()) continue
      loaded.delete(key)
      const id = await session.find()
      const runner = id.ok && id.value !== null ? registry.loaded(id.value) : null
      const isFree = runner?.hub.attached === 0 && runner.folded().state.turn.phase === 'idle'
      if (runner && isFree && !loaded.has(key)) await registry.unload(runner.id)
    }
  }

  let isUnloading = false
  function unloadInBackground(): void {
    if (isUnloading || loaded.size <= loadedMax) return
    isUnloading = true
    void unloadOldest()
      .catch((cause: unknown) => onProblem({ where: 'unloading conversations', cause }))
      .finally(() => {
        isUnloading = false
      })
  }

  function put(key: string, read: () => Result<Operation>): void {
    try {
      const operation = isClosed ? refuse(closed) : read()
      if (operation.ok) getConversation(key).put(operation.value)
      else getConversation(key).fail(operation.fault)
      unloadInBackground()
    } catch (cause) {
      onProblem({ where: 'conversations', cause }) // a key that is not text has no conversation to report to
    }
  }

  async function query<Value>(key: string, work: (conversation: Conversation) => Promise<Value>): Promise<Value> {
    if (isClosed) throw new HoldfastError(closed)
    try {
      return await work(getConversation(key))
    } finally {
      unloadInBackground()
    }
  }

  async function close(): Promise<void> {
    isClosed = true
    const saved = await Promise.allSettled([...loaded.values()].map(({ conversation }) => conversation.save()))
    const failed = saved.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }

  return {
    addMessage: (key, role, content) => put(key, () => parseAdd({ role, content })),
    addFullMessage: (key, message) => put(key, () => parseAdd(message)),
    setHistory: (key, messages) => put(key, () => parseSet(messages)),
    truncateHistory: (key, keepLast) => put(key, () => parseTruncate(keepLast)),
    setSummary: (key, summary) => put(key, () => parseSummary(summary)),
    getHistory: (key) => query(key, (conversation) => conversation.history()),
    getSummary: (key) => query(key, (conversation) => conversation.summary()),
    save: (key) => query(key, (conversation) => conversation.save()),
    close,
    [Symbol.asyncDispose]: close,
  }
}

const closed = fault('session_stopped', 'The conversations are closed and accept no more changes.')
