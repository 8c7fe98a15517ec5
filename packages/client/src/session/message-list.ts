import {
  limits,
  type Message,
  MessageId,
  orThrow,
  type PageRequest,
  type Result,
  type SessionHandle,
  type TranscriptPage,
} from '@holdfast/protocol'
import { readOptions } from './arguments.ts'

/**
 * The messages of a line, oldest first. A `for await` loop reads page by page, so that the length of the session does not
 * matter; `await` reads all of them into one list. Nothing is read before.
 */
export interface MessageList extends AsyncIterable<Message>, PromiseLike<readonly Message[]> {}

/** Creates the list of messages of the current line, or of a saved branch. */
export function createMessageList(
  handle: Pick<SessionHandle, 'page' | 'messages'>,
  options: Pick<PageRequest, 'branch'> | undefined,
): MessageList {
  const readLists = () => {
    const { branch } = readOptions(options, ['branch'])
    return handle.messages ? readLine(handle.messages({ branch })) : readPages(handle, branch)
  }
  async function* read(): AsyncGenerator<Message> {
    for await (const list of readLists()) yield* list
  }
  const readAll = async () => {
    const lists: (readonly Message[])[] = []
    for await (const list of readLists()) lists.push(list)
    return lists.flat()
  }
  return {
    [Symbol.asyncIterator]: read,
    // biome-ignore lint/suspicious/noThenProperty: `await session.messages()` gives the whole list
    then: (onList, onError) => readAll().then(onList, onError),
  }
}

async function* readLine(lists: AsyncIterable<Result<readonly Message[]>>): AsyncGenerator<readonly Message[]> {
  for await (const list of lists) yield orThrow(list)
}

/** Reads the pages in order. The next one is read while the caller handles the last one. */
async function* readPages(
  handle: Pick<SessionHandle, 'page'>,
  branch: string | undefined,
): AsyncGenerator<readonly Message[]> {
  const readAfter = (after: MessageId) => {
    const page = handle.page({ branch, limit: limits.pageMessagesMax, after })
    page.catch(() => undefined) // awaited below, unless the caller stops before
    return page
  }
  let next: ReturnType<typeof readAfter> | null = readAfter(MessageId.parse(0))
  while (next) {
    const { messages, after }: TranscriptPage = orThrow(await next)
    next = after === null ? null : readAfter(after)
    yield messages
  }
}
