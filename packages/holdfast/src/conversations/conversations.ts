import { readOptions } from '@holdfast/client/internal'
import { fault, HoldfastError, orThrow, parseKey, type Result, refuse } from '@holdfast/protocol'
import type { Conversation } from './conversation.ts'
import type { ConversationPool } from './conversation-pool.ts'
import type { ConversationMessage } from './message.ts'
import { type Operation, parseAdd, parseSet, parseSummary, parseTruncate } from './operation.ts'

/**
 * Conversations of a program with its own agent loop, each a session with a key. Changes return at once and never throw:
 * a failure is reported to `onProblem`, and the next `save` of that key, or `close`, rejects. All `conversations()` of a
 * runtime share one order for each key.
 */
export interface Conversations extends AsyncDisposable {
  /** Adds a message. */
  addMessage(key: string, role: ConversationMessage['role'], content: ConversationMessage['content']): void
  /** Adds a message with calls, a call's result or further fields. */
  addFullMessage(key: string, message: ConversationMessage): void
  /** Returns the messages as they were given; none for an unknown key. */
  getHistory(key: string): Promise<readonly ConversationMessage[]>
  /** Replaces the messages. The summary stays; the old messages are saved as a branch. */
  setHistory(key: string, messages: readonly ConversationMessage[]): void
  /** Keeps the last `keepLast` messages. A model's context starts at the next closed round. */
  truncateHistory(key: string, keepLast: number): void
  /** Returns the program's summary of earlier messages; '' for an unused key. */
  getSummary(key: string): Promise<string>
  /** Replaces that summary. */
  setSummary(key: string, summary: string): void
  /** Resolves when all earlier changes of this key are durable. */
  save(key: string): Promise<void>
  /** Saves every key that was used here. */
  close(): Promise<void>
}

/** Where the conversations belong. */
export type ConversationsOptions = {
  /** The workspace of the sessions; the working directory by default. */
  readonly workdir?: string | undefined
}

/** Returns an interface to the conversations of `pool`. Two of them share each conversation and its order. */
export function createConversations(pool: ConversationPool, options?: ConversationsOptions): Conversations {
  const { workdir = '.' } = readOptions(options, ['workdir'])
  if (typeof workdir !== 'string') throw new HoldfastError(wrongWorkdir)
  const { onProblem, unloadInBackground } = pool
  /** The conversations that were used here; `close` saves these and no others. */
  const used = new WeakSet<Conversation>()
  let isClosed = false

  function getConversation(key: string): Conversation {
    const conversation = pool.get(key)
    used.add(conversation)
    return conversation
  }

  function put(key: string, read: () => Result<Operation>): void {
    try {
      const operation = isClosed ? refuse(closed) : read()
      if (operation.ok) getConversation(key).put(operation.value, workdir)
      else getConversation(key).fail(operation.fault)
      unloadInBackground()
    } catch (cause) {
      onProblem({ where: 'conversations', cause }) // a key that is not text has no conversation to report to
    }
  }

  async function query<Value>(key: string, work: (conversation: Conversation) => Promise<Value>): Promise<Value> {
    if (isClosed) throw new HoldfastError(closed)
    if (typeof key !== 'string') orThrow(parseKey(key)) // callers are not always type-checked
    try {
      return await work(getConversation(key))
    } finally {
      unloadInBackground()
    }
  }

  async function close(): Promise<void> {
    isClosed = true
    const saved = await Promise.allSettled(
      pool.loaded().flatMap((conversation) => (used.has(conversation) ? [conversation.save()] : [])),
    )
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

const wrongWorkdir = fault('bad_request', 'The option workdir must be the path of a folder.')

const closed = fault('session_stopped', 'The conversations are closed and accept no more changes.')
