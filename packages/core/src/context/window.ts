import {
  clip,
  contentText,
  type EventOf,
  eventTokens,
  type Outcome,
  outcomeOutput,
  outcomeTokens,
  type Recorded,
} from '@holdfast/protocol'

/** The events that a request is built from; of notes, only those meant for the model. */
export const windowEvents = ['user.said', 'thinking.said', 'text.said', 'call.requested', 'note.added'] as const

type WindowEvent = EventOf<(typeof windowEvents)[number]>

/** What the model sees of the line: a summary and pins instead of the cut part, then the messages. */
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

type WindowRecords = {
  readonly summary: string | null
  /** Where the view of the line begins. */
  readonly from: number
  readonly records: readonly Recorded[]
  /** The records about calls among the records and pins. */
  readonly settled: readonly Recorded[]
  readonly pinned?: readonly Recorded[]
  readonly prompt?: Recorded | null
}

const windowTypes: ReadonlySet<string> = new Set(windowEvents)
export const isWindowEvent = (event: Recorded['event']): event is WindowEvent =>
  windowTypes.has(event.type) && (event.type !== 'note.added' || event.told === true)

/** Returns the step of a message; null for a user's message. */
export const stepOf = ({ event }: WindowMessage): number | null => ('step' in event ? event.step : null)

/** Joins the records of the line with the outcomes of their calls. */
export function toWindow({ summary, from, records, settled, pinned = [], prompt = null }: WindowRecords): Window {
  const outcomes = new Map<number, Outcome>()
  for (const { event } of settled) {
    // The first outcome counts: a late result after a synthetic one is recorded, but not sent.
    if (event.type === 'call.settled' && !outcomes.has(event.call)) outcomes.set(event.call, event.outcome)
  }
  const toMessages = (found: readonly Recorded[]) =>
    found.flatMap(({ seq, event }) =>
      isWindowEvent(event) ? [{ seq, event, outcome: outcomes.get(seq) ?? null }] : [],
    )
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
  eventTokens(event) + (outcome ? outcomeTokens(outcome) : 0)

const charsMax = 20_000
const resultCharsMax = 4_000

/** Returns a message as plain text, for a model that summarises or gets a pinned message. */
function quote({ event, outcome }: WindowMessage): string {
  switch (event.type) {
    case 'user.said': {
      const files = event.content.flatMap((part) =>
        part.type === 'file' ? [`[file ${part.name ?? part.mediaType}]`] : [],
      )
      const added = event.context === undefined ? [] : [`[context from a hook] ${event.context}`]
      return `[user] ${shorten([contentText(event.content), ...files, ...added].join('\n'), charsMax)}`
    }
    case 'note.added':
      return event.text.trim() === '' ? '' : `[system] ${shorten(event.text, charsMax)}`
    case 'thinking.said':
      return ''
    case 'text.said':
      return event.text.trim() === '' ? '' : `[assistant] ${shorten(event.text, charsMax)}`
    case 'call.requested': {
      const result = outcome ? outcomeOutput(outcome).text : 'no result'
      return `[tool ${event.tool}] ${shorten(JSON.stringify(event.args), resultCharsMax)}\n${shorten(result, resultCharsMax)}`
    }
  }
}

/** Shortens a text to its head and tail. */
function shorten(text: string, max: number): string {
  const whole = text.toWellFormed()
  if (whole.length <= max) return whole
  const half = Math.floor(max / 2)
  return `${clip(whole, half)}\n[${whole.length - 2 * half} characters left out]\n${whole.slice(-half).toWellFormed()}`
}

/** Joins messages as plain text, without empty ones. */
export const quoteAll = (messages: readonly WindowMessage[]): string =>
  messages
    .map(quote)
    .filter((text) => text !== '')
    .join('\n\n')
