import type { Message, MessageId, Meta } from '@holdfast/protocol'
import { escapeHiddenInJson } from '@holdfast/protocol/hostile-text'

const toJsonText = (value: unknown): string => escapeHiddenInJson(JSON.stringify(value))

/** Writes a transcript as one JSON document in the shape of a page, piece by piece, never all of it in memory. */
export async function* transcriptJson(
  session: Meta,
  pages: AsyncIterable<readonly Message[]> | Iterable<readonly Message[]>,
  before: MessageId | null,
): AsyncGenerator<string> {
  yield `{"session":${toJsonText(session)},"messages":[`
  let isFirst = true
  for await (const messages of pages) {
    if (messages.length === 0) continue
    yield `${isFirst ? '' : ','}\n${messages.map(toJsonText).join(',\n')}`
    isFirst = false
  }
  yield `\n],"before":${before},"after":null}\n`
}
