import {
  limits,
  type Message,
  type MessageId,
  orThrow,
  type PageRequest,
  type SessionHandle,
  type TranscriptPage,
} from '@holdfast/protocol'

/** Returns a function that reads the newest messages until it has `limit` of those that count. */
export const readNewest =
  (page: SessionHandle['page'], branch: PageRequest['branch']) =>
  async (limit: number, counts: (message: Message) => boolean) => {
    let messages: readonly Message[] = []
    let missing = limit
    let before: MessageId | null = null
    do {
      const size = Math.min(missing, limits.pageMessagesMax)
      const older: TranscriptPage = orThrow(await page({ limit: size, branch, ...(before !== null && { before }) }))
      messages = [...older.messages, ...messages]
      missing -= older.messages.filter(counts).length
      before = older.before
    } while (before !== null && missing > 0)
    return { messages, before }
  }
