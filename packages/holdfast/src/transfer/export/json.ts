import type { Message, MessageId, Meta } from '@holdfast/protocol'
import { escapeHiddenInJson } from '@holdfast/protocol/hostile-text'
import { cutPieces } from './pieces.ts'

export const toJsonText = (value: unknown): string => escapeHiddenInJson(JSON.stringify(value))

/** Writes a transcript as one JSON document in the shape of a page, piece by piece, never all of it in memory. */
export async function* transcriptJson(
  session: Meta,
  pages: AsyncIterable<readonly Message[]> | Iterable<readonly Message[]>,
  before: MessageId | null,
  write: (message: Message) => AsyncIterable<string> | Iterable<string> = (message) => cutPieces(toJsonText(message)),
): AsyncGenerator<string> {
  yield `{"session":${toJsonText(session)},"messages":[`
  let isFirst = true
  for await (const messages of pages) {
    for (const message of messages) {
      yield isFirst ? '\n' : ',\n'
      yield* write(message)
      isFirst = false
    }
  }
  yield `\n],"before":${before},"after":null}\n`
}
