import type { SessionRegistry } from '@holdfast/core'
import { fault, HoldfastError, type Result, refuse } from '@holdfast/protocol'
import { type Conversation, createConversation } from './conversation.ts'
import { type ConversationSession, createConversationSession } from './conversation-session.ts'
import type { ConversationMessage } from './message.ts'
import type { Operation } from './operation.ts'
import { readAdd, readSet, readSummary, readTruncate } from './read-operation.ts'

/** How many conversations stay awake at once; the others are read from the store when they are asked for. */
const awakeMax = 256

/**
 * Conversations of a program with its own loop, each a session known by its key. What changes one returns at once and
 * never throws: a failure is told to `onProblem`, and by the next `save` of that key, or `close`, which rejects.
 */
export interface Conversations extends AsyncDisposable {
  addMessage(key: string, role: ConversationMessage['role'], content: string): void
  addFullMessage(key: string, message: ConversationMessage): void
  /** The messages as they were given; none for a key nobody has used. */
  getHistory(key: string): Promise<readonly ConversationMessage[]>
  /** Replaces the messages. The summary stays, and the line that was is kept as a branch. */
  setHistory(key: string, messages: readonly ConversationMessage[]): void
  /** Shows exactly the last `keepLast` messages. A model's view begins at the next round that is closed. */
  truncateHistory(key: string, keepLast: number): void
  getSummary(key: string): Promise<string>
  setSummary(key: string, summary: string): void
  /** Resolves when everything that was done to this key before would survive a power cut. */
  save(key: string): Promise<void>
  /** Saves every key. */
  close(): Promise<void>
}

export type ConversationsOptions = {
  /** The folder that the sessions belong to; the process's own by default. */
  readonly workdir?: string | undefined
}

type Held = { readonly conversation: Conversation; readonly session: ConversationSession }

export function createConversations(
  registry: SessionRegistry,
  { workdir = '.' }: ConversationsOptions = {},
): Conversations {
  const { onProblem } = registry.deps
  const held = new Map<string, Held>()
  let isClosed = false

  /** The one asked for last is the last to go. */
  function conversationOf(key: string): Conversation {
    const known = held.get(key) ?? hold(key)
    held.delete(key)
    held.set(key, known)
    return known.conversation
  }

  function hold(key: string): Held {
    const session = createConversationSession(registry, key, workdir)
    return { session, conversation: createConversation(key, session, onProblem) }
  }

  /** Lets go of those that nobody asked for the longest, if nothing of them waits. */
  async function rest(): Promise<void> {
    for (const [key, { conversation, session }] of held) {
      if (held.size <= awakeMax) return
      if (!conversation.isAtRest()) continue
      held.delete(key)
      const id = await session.find()
      const runner = id.ok && id.value !== null ? registry.awake(id.value) : null
      const isFree = runner?.hub.attached === 0 && runner.folded().state.turn.phase === 'idle'
      if (runner && isFree && !held.has(key)) await registry.unload(runner.id)
    }
  }

  let isResting = false
  function letRest(): void {
    if (isResting || held.size <= awakeMax) return
    isResting = true
    void rest()
      .catch((cause: unknown) => onProblem({ where: 'letting conversations rest', cause }))
      .finally(() => {
        isResting = false
      })
  }

  function put(key: string, read: () => Result<Operation>): void {
    try {
      const operation = isClosed ? refuse(closed) : read()
      if (operation.ok) conversationOf(key).put(operation.value)
      else conversationOf(key).note(operation.fault)
      letRest()
    } catch (cause) {
      onProblem({ where: 'conversations', cause }) // a key that is no text has nobody to tell it to
    }
  }

  async function ask<Value>(key: string, work: (conversation: Conversation) => Promise<Value>): Promise<Value> {
    if (isClosed) throw new HoldfastError(closed)
    try {
      return await work(conversationOf(key))
    } finally {
      letRest()
    }
  }

  async function close(): Promise<void> {
    isClosed = true
    const saved = await Promise.allSettled([...held.values()].map(({ conversation }) => conversation.save()))
    const failed = saved.find((one) => one.status === 'rejected')
    if (failed) throw failed.reason
  }

  return {
    addMessage: (key, role, content) => put(key, () => readAdd({ role, content })),
    addFullMessage: (key, message) => put(key, () => readAdd(message)),
    setHistory: (key, messages) => put(key, () => readSet(messages)),
    truncateHistory: (key, keepLast) => put(key, () => readTruncate(keepLast)),
    setSummary: (key, summary) => put(key, () => readSummary(summary)),
    getHistory: (key) => ask(key, (conversation) => conversation.history()),
    getSummary: (key) => ask(key, (conversation) => conversation.summary()),
    save: (key) => ask(key, (conversation) => conversation.save()),
    close,
    [Symbol.asyncDispose]: close,
  }
}

const closed = fault('session_stopped', 'The conversations are closed: nothing is taken any more.')
