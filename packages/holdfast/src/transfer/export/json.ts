import type { Message, MessageId, Meta } from '@holdfast/protocol'
import { escapeHiddenInJson } from '@holdfast/protocol/hostile-text'

export const toJsonText = (value: unknown): string => escapeHiddenInJson(JSON.stringify(value))

/** Writes a transcript as one JSON document in the shape of a page, piece by piece, never all of it in memory. */
export async function* transcriptJson(
  session: Meta,
  pages: AsyncIterable<readonly Message[]> | Iterable<readonly Message[]>,
  before: MessageId | null,
  write: (message: Message) => string | Promise<string> = toJsonText,
): AsyncGenerator<string> {
  yield `{"session":${toJsonText(session)},"messages":[`
  let isFirst = true
  for await (const messages of pages) {
    for (const message of messages) {
      yield `${isFirst ? '' : ','}\n${await write(message)}`
      isFirst = false
    }
  }
  yield `\n],"before":${before},"after":null}\n`
}
