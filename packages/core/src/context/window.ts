import {
  type EventOf,
  type EventType,
  eventTokens,
  type Outcome,
  outcomeOutput,
  type Recorded,
  textTokens,
} from '@holdfast/protocol'

/** The events that a request is built from; of notes, only those meant for the model. */
export const windowEvents = [
  'user.said',
  'thinking.said',
  'text.said',
  'call.requested',
  'note.added',
] as const satisfies readonly EventType[]

export type WindowEvent = EventOf<(typeof windowEvents)[number]>

/** What the model sees of the line: what replaces the cut part, then the messages. */
export type Window = {
  readonly summary: string | null
  /** Pinned messages of the cut part, and the prompt of the running turn if it lies there. */
  readonly pinned: readonly WindowMessage[]
  readonly prompt: WindowMessage | null
  readonly messages: readonly WindowMessage[]
}

export type WindowMessage = {
  readonly seq: number
  readonly event: WindowEvent
  /** The outcome of a call; null if its round was never closed. */
  readonly outcome: Outcome | null
}

export type WindowRecords = {
  readonly summary: string | null
  /** Where the view of the line begins. */
  readonly from: number
  readonly records: readonly Recorded[]
  /** The records about calls among the records and pins. */
  readonly settled: readonly Recorded[]
  readonly pinned?: readonly Recorded[]
  readonly prompt?: Recorded | null
}

const wanted: ReadonlySet<string> = new Set(windowEvents)
export const isWindowEvent = (event: Recorded['event']): event is WindowEvent =>
  wanted.has(event.type) && (event.type !== 'note.added' || event.told === true)

/** Returns the step of a message; null for a user's message. */
export const stepOf = ({ event }: WindowMessage): number | null => ('step' in event ? event.step : null)

/** Joins the records of the line with the outcomes of their calls. */
export function toWindow({ summary, from, records, settled, pinned = [], prompt = null }: WindowRecords): Window {
  const outcomes = new Map<number, Outcome>()
  for (const { event } of settled) {
    // The first outcome counts: a late result after a synthetic one is recorded, but not sent.
    if (event.type === 'call.settled' && !outcomes.has(event.call)) outcomes.set(event.call, event.outcome)
  }
  const toMessages = (some: readonly Recorded[]) =>
    some.flatMap(({ seq, event }) => (isWindowEvent(event) ? [{ seq, event, outcome: outcomes.get(seq) ?? null }] : []))
  const messages = toMessages(records)
  // A line may be cut inside an answer: the rest is shown to people, but the model's view begins after it.
  const first = messages.findIndex((message) => (stepOf(message) ?? from) >= from)
  return {
    summary,
    pinned: toMessages(pinned),
    prompt: toMessages(prompt ? [prompt] : [])[0] ?? null,
    messages: first === -1 ? [] : messages.slice(first),
  }
}

/** Estimates the tokens of a message with the outcome of its call. */
export const messageTokens = ({ event, outcome }: WindowMessage): number =>
  eventTokens(event) + (outcome ? textTokens(outcomeOutput(outcome).text) : 0)
