import type { Conversations, ConversationsOptions } from '../conversations/conversations.ts'
import type { OpenOptions } from '../open/open-options.ts'

/** Where the conversations are stored, and how failures are reported. */
export type OpenConversationsOptions = ConversationsOptions &
  Pick<OpenOptions, 'store' | 'blobs' | 'mirror' | 'environment' | 'onProblem'>

const known = [
  'workdir',
  'store',
  'blobs',
  'mirror',
  'environment',
  'onProblem',
] satisfies readonly (keyof OpenConversationsOptions)[]

/** Opens a store for a program with its own loop. `close` saves every conversation, then closes the store. */
export async function openConversations(options: OpenConversationsOptions = {}): Promise<Conversations> {
  // Importing holdfast/store loads only the stores.
  const [{ openHoldfast }, { readOptions }] = await Promise.all([
    import('../open.ts'),
    import('@holdfast/client/internal'),
  ])
  const { workdir, ...open } = readOptions(options, known)
  const holdfast = await openHoldfast(open)
  const conversations = holdfast.conversations({ workdir })
  let closing: Promise<void> | null = null
  const close = () => {
    closing ??= conversations.close().finally(() => holdfast.close())
    return closing
  }
  return { ...conversations, close, [Symbol.asyncDispose]: close }
}
