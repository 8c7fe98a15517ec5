import type { SessionRegistry } from '@holdfast/core'
import type { OnProblem } from '@holdfast/core/ports'
import { type Conversation, createConversation } from './conversation.ts'
import { type ConversationSession, createConversationSession } from './conversation-session.ts'

/** The number of conversations that stay loaded. */
const loadedMax = 256

type CachedConversation = { readonly conversation: Conversation; readonly session: ConversationSession }

/** The conversations of one runtime. Its types are named, so that the built declarations need no package of tests. */
export interface ConversationPool {
  readonly onProblem: OnProblem
  /** Returns a conversation and marks it as most recently used. */
  get(key: string): Conversation
  loaded(): readonly Conversation[]
  unloadInBackground(): void
}

/** The conversations of one runtime. Everyone who asks for a key gets the same one, so that each key has one order. */
export function createConversationPool(registry: SessionRegistry): ConversationPool {
  const { onProblem } = registry.deps
  const loaded = new Map<string, CachedConversation>()

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
  return {
    onProblem,
    /** Returns a conversation and marks it as most recently used. */
    get(key: string): Conversation {
      const session = loaded.get(key)?.session ?? createConversationSession(registry, key)
      const conversation = loaded.get(key)?.conversation ?? createConversation(key, session, onProblem)
      loaded.delete(key)
      loaded.set(key, { session, conversation })
      return conversation
    },
    loaded: (): readonly Conversation[] => [...loaded.values()].map(({ conversation }) => conversation),
    unloadInBackground(): void {
      if (isUnloading || loaded.size <= loadedMax) return
      isUnloading = true
      void unloadOldest()
        .catch((cause: unknown) => onProblem({ where: 'unloading conversations', cause }))
        .finally(() => {
          isUnloading = false
        })
    },
  }
}
