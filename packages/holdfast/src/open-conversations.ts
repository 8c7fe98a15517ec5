import type { Conversations, ConversationsOptions } from './conversations/conversations.ts'
import type { OpenOptions } from './open.ts'

/** Where the conversations are stored, and how failures are reported. */
export type OpenConversationsOptions = ConversationsOptions &
  Pick<OpenOptions, 'store' | 'blobs' | 'mirror' | 'environment' | 'onProblem'>

/** Opens a store for a program with its own loop. `close` saves every conversation, then closes the store. */
export async function openConversations(options: OpenConversationsOptions = {}): Promise<Conversations> {
  const { workdir, ...open } = options
  const { openHoldfast } = await import('./open.ts') // importing holdfast/store loads only the stores
  const holdfast = await openHoldfast(open)
  const conversations = holdfast.conversations({ workdir })
  let closing: Promise<void> | null = null
  const close = () => {
    closing ??= conversations.close().finally(() => holdfast.close())
    return closing
  }
  return { ...conversations, close, [Symbol.asyncDispose]: close }
}
