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
  const messages: StoredMessage[] = []
  const ourCalls = new Set<number>()
  const programCalls = new Set<number>()
  const open: { given: GivenMessage | null; answer: Answer | null } = { given: null, answer: null }

  const flush = () => {
    if (open.given) messages.push({ seq: open.given.seq, message: open.given.message })
    if (open.answer) messages.push({ seq: open.answer.seq, message: toAnswerMessage(open.answer) })
    open.given = null
    open.answer = null
  }
  const add = (seq: number, message: ConversationMessage) => {
    flush()
    messages.push({ seq, message })
  }
  const answering = (seq: number, step: number): Answer => {
    if (open.answer?.step === step) return open.answer
    flush()
    // An answer starts with its step, so that keeping from there keeps all of it.
    const answer: Answer = { seq: Math.min(seq, step), step, texts: [], calls: [] }
    open.answer = answer
    return answer
  }

  for (const { seq, event } of records) {
    if (event.type === 'call.requested' && event.givenId !== undefined) programCalls.add(seq)
    if (open.given && seq <= open.given.upTo) {
      const text = open.given.hasText ? null : getText(event)
      const { message } = open.given
      if (text !== null) open.given = { ...open.given, message: { ...message, content: text }, hasText: true }
      continue
    }
    switch (event.type) {
      case 'message.given':
        flush()
        open.given = { seq, upTo: seq + event.records, message: toGivenMessage(event.message), hasText: false }
        break
      case 'user.said':
        add(seq, { role: 'user', content: contentText(event.content) })
        break
      case 'note.added':
        if (event.told) add(seq, { role: 'system', content: event.text })
        break
      case 'text.said':
        answering(seq, event.step).texts.push(event.text)
        break
      case 'call.requested': {
        const { tool, args } = event
        ourCalls.add(seq)
        answering(seq, event.step).calls.push({ id: `c${seq}`, tool, args })
        break
      }
      case 'call.settled': {
        const { call, outcome } = event
        // A call that the program never answered was settled by us and is not one of its messages.
        const isOurs = ourCalls.has(call) || (!programCalls.has(call) && outcome.type !== 'interrupted')
        if (isOurs) add(seq, { role: 'tool', content: outcomeOutput(outcome).text, toolCallId: `c${call}` })
        break
      }
    }
  }
  flush()
  return messages
}

/** Validated when it was given. Its content follows in the next records. */
const toGivenMessage = (message: object) => ({ ...message, content: '' }) as ConversationMessage

function getText(event: Event): string | null {
  if (event.type === 'user.said') return contentText(event.content)
  if (event.type === 'text.said' || event.type === 'note.added') return event.text
  return event.type === 'call.settled' ? outcomeOutput(event.outcome).text : null
}

const toAnswerMessage = ({ texts, calls }: Answer): ConversationMessage => ({
  ...{ role: 'assistant', content: texts.join('') },
  ...(calls.length > 0 && { toolCalls: calls }),
})
