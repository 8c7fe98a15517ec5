import { contentText, type Event, type EventType, outcomeOutput, type Recorded } from '@holdfast/protocol'
import type { ConversationMessage } from './message.ts'

/** A message and its first seq. */
export type StoredMessage = { readonly seq: number; readonly message: ConversationMessage }

/** The event types of a history. */
export const conversationEvents = [
  'message.given',
  'user.said',
  'text.said',
  'call.requested',
  'call.settled',
  'note.added',
] as const satisfies readonly EventType[]

/** A message given by the program, and its records: its text is in the first record that has text. */
type GivenMessage = {
  readonly seq: number
  readonly upTo: number
  readonly message: ConversationMessage
  readonly hasText: boolean
}
/** An answer of one of our models; each part is a record. */
type Answer = { seq: number; step: number; texts: string[]; calls: { id: string; tool: string; args: unknown }[] }

/** Returns the messages of a line: those of the program as given, and those of our models in the same form. */
export function fromRecords(records: Iterable<Recorded>): readonly StoredMessage[] {
  const messages = createMessages()
  const ourCalls = new Set<number>()
  const programCalls = new Set<number>()
  for (const { seq, event } of records) {
    if (event.type === 'call.requested' && event.givenId !== undefined) programCalls.add(seq)
    if (messages.addToGiven(seq, event)) continue
    switch (event.type) {
      case 'message.given':
        messages.begin({
          seq,
          upTo: seq + event.records,
          message: toGivenMessage(event.message),
          hasText: event.message['content'] !== null,
        })
        break
      case 'user.said':
        messages.add(seq, { role: 'user', content: contentText(event.content) })
        break
      case 'note.added':
        if (event.told) messages.add(seq, { role: 'system', content: event.text })
        break
      case 'text.said':
        messages.answerOf(seq, event.step).texts.push(event.text)
        break
      case 'call.requested': {
        const { tool, args } = event
        ourCalls.add(seq)
        messages.answerOf(seq, event.step).calls.push({ id: `c${seq}`, tool, args })
        break
      }
      case 'call.settled': {
        const { call, outcome } = event
        // A call that the program never answered was settled by us and is not one of its messages.
        const isOurs = ourCalls.has(call) || (!programCalls.has(call) && outcome.type !== 'interrupted')
        if (isOurs) messages.add(seq, { role: 'tool', content: outcomeOutput(outcome).text, toolCallId: `c${call}` })
        break
      }
    }
  }
  return messages.end()
}

/** Collects messages. One that has several records stays open until the next message starts. */
function createMessages() {
  const messages: StoredMessage[] = []
  let given: GivenMessage | null = null
  let answer: Answer | null = null

  const flush = () => {
    if (given) messages.push({ seq: given.seq, message: given.message })
    if (answer) messages.push({ seq: answer.seq, message: toAnswerMessage(answer) })
    given = null
    answer = null
  }
  return {
    begin(message: GivenMessage): void {
      flush()
      given = message
    },
    /** Adds a record to the open message of the program. Returns false if it is not part of one. */
    addToGiven(seq: number, event: Event): boolean {
      if (given === null || seq > given.upTo) return false
      const text = given.hasText ? null : getText(event)
      if (text !== null) given = { ...given, message: { ...given.message, content: text }, hasText: true }
      return true
    },
    add(seq: number, message: ConversationMessage): void {
      flush()
      messages.push({ seq, message })
    },
    answerOf(seq: number, step: number): Answer {
      if (answer?.step === step) return answer
      flush()
      // An answer starts with its step, so that keeping from there keeps all of it.
      answer = { seq: Math.min(seq, step), step, texts: [], calls: [] }
      return answer
    },
    end(): readonly StoredMessage[] {
      flush()
      return messages
    },
  }
}

/** Returns the message, which was validated when it was given: null stands for the text of the next records, false for null. */
function toGivenMessage(message: Readonly<Record<string, unknown>>): ConversationMessage {
  const { content } = message
  return { ...message, content: content === null ? '' : content === false ? null : content } as ConversationMessage
}

function getText(event: Event): string | null {
  if (event.type === 'user.said') return contentText(event.content)
  if (event.type === 'text.said' || event.type === 'note.added') return event.text
  return event.type === 'call.settled' ? outcomeOutput(event.outcome).text : null
}

const toAnswerMessage = ({ texts, calls }: Answer): ConversationMessage => ({
  role: 'assistant',
  content: texts.join(''),
  ...(calls.length > 0 && { toolCalls: calls }),
})
