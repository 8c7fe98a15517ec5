import { contentText, type Event, type EventType, outcomeOutput, type Recorded } from '@holdfast/protocol'
import type { ConversationMessage } from './message.ts'

/** A message, and the record its part of the line begins with. */
export type PlacedMessage = { readonly seq: number; readonly message: ConversationMessage }

/** What a history is read from. */
export const conversationEvents = [
  'message.given',
  'user.said',
  'text.said',
  'call.requested',
  'call.settled',
  'note.added',
] as const satisfies readonly EventType[]

/** What was given, and the records it means: its words are in the first of them that has any. */
type Kept = {
  readonly seq: number
  readonly upTo: number
  readonly message: ConversationMessage
  readonly hasWords: boolean
}
/** An answer of a model of ours, whose parts are records of their own. */
type Answer = { seq: number; step: number; texts: string[]; calls: { id: string; tool: string; args: unknown }[] }

/**
 * The messages of a line: those a program gave as it gave them, and between them what was said to models of ours, in the
 * same form. Records that mean nothing in a conversation are passed over.
 */
export function fromRecords(records: Iterable<Recorded>): readonly PlacedMessage[] {
  const placed: PlacedMessage[] = []
  const ours = new Set<number>()
  const theirs = new Set<number>()
  const open: { kept: Kept | null; answer: Answer | null } = { kept: null, answer: null }

  const settle = () => {
    if (open.kept) placed.push({ seq: open.kept.seq, message: open.kept.message })
    if (open.answer) placed.push({ seq: open.answer.seq, message: answerOf(open.answer) })
    open.kept = null
    open.answer = null
  }
  const add = (seq: number, message: ConversationMessage) => {
    settle()
    placed.push({ seq, message })
  }
  const answering = (seq: number, step: number): Answer => {
    if (open.answer?.step === step) return open.answer
    settle()
    // An answer begins with its step, so that whoever keeps it from there on keeps all of it.
    const begun: Answer = { seq: Math.min(seq, step), step, texts: [], calls: [] }
    open.answer = begun
    return begun
  }

  for (const { seq, event } of records) {
    if (event.type === 'call.requested' && event.givenId !== undefined) theirs.add(seq)
    if (open.kept && seq <= open.kept.upTo) {
      const words = open.kept.hasWords ? null : wordsOf(event)
      const { message } = open.kept
      if (words !== null) open.kept = { ...open.kept, message: { ...message, content: words }, hasWords: true }
      continue
    }
    switch (event.type) {
      case 'message.given':
        settle()
        open.kept = { seq, upTo: seq + event.records, message: givenOf(event.message), hasWords: false }
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
        ours.add(seq)
        answering(seq, event.step).calls.push({ id: `c${seq}`, tool, args })
        break
      }
      case 'call.settled': {
        const { call, outcome } = event
        // A call that its program never answered was settled by us: it gave no such message.
        const isOurs = ours.has(call) || (!theirs.has(call) && outcome.type !== 'interrupted')
        if (isOurs) add(seq, { role: 'tool', content: outcomeOutput(outcome).text, toolCallId: `c${call}` })
        break
      }
    }
  }
  settle()
  return placed
}

/** It was checked when it came. Its content follows; without any it had none. */
const givenOf = (message: object) => ({ ...message, content: '' }) as ConversationMessage

function wordsOf(event: Event): string | null {
  if (event.type === 'user.said') return contentText(event.content)
  if (event.type === 'text.said' || event.type === 'note.added') return event.text
  return event.type === 'call.settled' ? outcomeOutput(event.outcome).text : null
}

const answerOf = ({ texts, calls }: Answer): ConversationMessage => ({
  ...{ role: 'assistant', content: texts.join('') },
  ...(calls.length > 0 && { toolCalls: calls }),
})
