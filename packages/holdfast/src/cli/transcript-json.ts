import type { Message, MessageId, Meta } from '@holdfast/protocol'
import { toJsonText } from './json-text.ts'

/**
 * A transcript as one JSON document, a message a line: `{session, messages, before, after}`. Written as it is read, so
 * that its length costs no memory.
 */
export async function writeTranscriptJson(
  session: Meta,
  pages: AsyncIterable<readonly Message[]> | Iterable<readonly Message[]>,
  before: MessageId | null,
  write: (text: string) => Promise<void>,
): Promise<void> {
  await write(`{"session":${toJsonText(session)},"messages":[`)
  let isFirst = true
  for await (const messages of pages) {
    if (messages.length === 0) continue
    await write(`${isFirst ? '' : ','}\n${messages.map(toJsonText).join(',\n')}`)
    isFirst = false
  }
  await write(`\n],"before":${before},"after":null}\n`)
}
